import { gemini as api } from '../model/gemini.ts'
import { type Driver, found } from './driver.ts'

export const gemini: Driver = {
  name: 'gemini',
  label: 'Gemini CLI',
  package: '@google/gemini-cli',
  version: '0.61.0',
  command: 'gemini',
  api,
  env: modelUrl => ({
    GEMINI_API_KEY: 'fake',
    GOOGLE_GEMINI_BASE_URL: modelUrl,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  args: (prompt, { session }) => [
    ...(session === undefined ? [] : ['--resume', session]),
    '-p',
    prompt,
    '-m',
    'gemini-2.5-pro',
    '--yolo',
    '--output-format',
    'stream-json',
  ],
  sessionIn: printed => found(/"session_id":"([^"]+)"/, printed),
  shell: command => ({ name: 'run_shell_command', arguments: { command, description: 'Look' } }),
  write: (path, content) => ({ name: 'write_file', arguments: { file_path: path, content } }),
  shellName: 'run_shell_command',
  tellsFailures: true,
  signedIn: { '.gemini/settings.json': '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }\n' },
  settings: {
    '.gemini/settings.json': `{
  // Mine.
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "ui": { "theme": "Default" },
  "mcpServers": { "files": { "command": "true" } },
  "hooks": { "AfterAgent": [{ "hooks": [{ "type": "command", "command": "true" }] }] }
}
`,
  },
  rewrites: [],
  terminal: {
    args: () => ['-m', 'gemini-2.5-pro', '--approval-mode', 'auto_edit'],
    ready: 'Type your message',
  },
}
