import { chat } from '../model/chat.ts'
import { type Driver, found } from './driver.ts'

export const opencode: Driver = {
  name: 'opencode',
  label: 'OpenCode',
  package: 'opencode-ai',
  version: '1.18.33',
  command: 'opencode',
  api: chat,
  env: modelUrl => ({
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      autoupdate: false,
      share: 'disabled',
      model: 'fake/fake',
      small_model: 'fake/fake',
      provider: {
        fake: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Fake',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'fake' },
          models: { fake: { name: 'Fake', tool_call: true, limit: { context: 200_000, output: 8_000 } } },
        },
      },
    }),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }),
  args: (prompt, { session, server }) => [
    'run',
    ...(server === undefined ? [] : ['--attach', server]),
    '--format',
    'json',
    ...(session === undefined ? [] : ['--session', session]),
    prompt,
  ],
  server: { args: ['serve', '--port', '0'], urlIn: printed => found(/listening on (http:\S+)/, printed) },
  sessionIn: printed => found(/"sessionID":"([^"]+)"/, printed),
  shell: command => ({ name: 'bash', arguments: { command, description: 'Look' } }),
  write: (path, content) => ({ name: 'write', arguments: { filePath: path, content } }),
  shellName: 'bash',
  tellsFailures: true,
  settings: {
    '.config/opencode/opencode.jsonc': `{
  // Mine.
  "$schema": "https://opencode.ai/config.json",
  "theme": "system",
  "mcp": { "files": { "type": "local", "command": ["true"], "enabled": false } },
}
`,
  },
  rewrites: [],
  terminal: {
    args: () => [],
    ready: 'Ask anything',
  },
}
