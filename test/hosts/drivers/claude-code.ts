import { anthropic } from '../model/anthropic.ts'
import { type Driver, found } from './driver.ts'

export const claudeCode: Driver = {
  name: 'claude-code',
  label: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  version: '2.1.325',
  command: 'claude',
  api: anthropic,
  env: modelUrl => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'fake',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
  args: (prompt, { session }) => [
    ...(session === undefined ? [] : ['--resume', session]),
    '-p',
    prompt,
    '--model',
    'claude-sonnet-4-5',
    '--allowedTools',
    'Bash,Write',
    '--output-format',
    'stream-json',
    '--verbose',
  ],
  sessionIn: printed => found(/"session_id":"([^"]+)"/, printed),
  shell: command => ({ name: 'Bash', arguments: { command, description: 'Look' } }),
  write: (path, content) => ({ name: 'Write', arguments: { file_path: path, content } }),
  shellName: 'Bash',
  tellsFailures: true,
  settings: {
    '.claude.json': `{
  "numStartups": 7,
  "mcpServers": { "files": { "type": "stdio", "command": "true", "args": [] } }
}
`,
    '.claude/settings.json': `{
    "permissions": { "allow": ["Bash(ls:*)"] },
    "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }] }
}
`,
  },
  rewrites: ['.claude.json'],
  terminal: {
    args: () => ['--model', 'claude-sonnet-4-5', '--allowedTools', 'Bash,Write'],
    settings: project => ({
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: ['fake'], rejected: [] },
        projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      }),
    }),
    ready: '? for shortcuts',
  },
}
