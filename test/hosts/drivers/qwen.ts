import { chat } from '../model/chat.ts'
import { type Driver, found } from './driver.ts'

export const qwen: Driver = {
  name: 'qwen',
  label: 'Qwen Code',
  package: '@qwen-code/qwen-code',
  version: '0.24.4',
  command: 'qwen',
  api: chat,
  env: modelUrl => ({
    OPENAI_API_KEY: 'fake',
    OPENAI_BASE_URL: `${modelUrl}/v1`,
    OPENAI_MODEL: 'fake',
    QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
  }),
  args: (prompt, { session }) => [
    ...(session === undefined ? [] : ['--resume', session]),
    '-p',
    prompt,
    '--auth-type',
    'openai',
    '--yolo',
    '--output-format',
    'json',
  ],
  sessionIn: printed => found(/"session_id":\s*"([^"]+)"/, printed),
  shell: command => ({
    name: 'run_shell_command',
    arguments: { command, description: 'Look', is_background: false },
  }),
  write: (path, content) => ({ name: 'write_file', arguments: { file_path: path, content } }),
  shellName: 'run_shell_command',
  tellsFailures: true,
  settings: {
    '.qwen/settings.json': `{
  // Mine.
  "ui": { "theme": "Default" },
  "mcpServers": { "files": { "command": "true" } },
  "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }] }
}
`,
  },
  rewrites: ['.qwen/settings.json'],
  terminal: {
    args: () => ['--auth-type', 'openai'],
    ready: 'Type your message',
  },
}
