import { responses } from '../model/responses.ts'
import { type Driver, found } from './driver.ts'

export const codex: Driver = {
  name: 'codex',
  label: 'Codex',
  package: '@openai/codex',
  version: '0.166.0',
  command: 'codex',
  api: responses,
  env: () => ({ FAKE_KEY: 'fake' }),
  args: (prompt, { modelUrl, session }) => [
    'exec',
    ...(session === undefined ? [] : ['resume', session]),
    ...codexModel(modelUrl),
    '--skip-git-repo-check',
    '--json',
    // In place of the person who accepts them in /hooks; `codex-terminal.test.ts` does that.
    '--dangerously-bypass-hook-trust',
    '--dangerously-bypass-approvals-and-sandbox',
    prompt,
  ],
  sessionIn: printed => found(/"thread_id":"([^"]+)"/, printed),
  shell: command => ({ name: 'exec_command', arguments: { cmd: command } }),
  // It edits through its shell.
  write: (path, content) => codex.shell(`cat > '${path}' <<'END'\n${content}END\n`),
  shellName: 'Bash',
  tellsFailures: false,
  settings: {
    '.codex/config.toml': `# Mine.
model_reasoning_effort = "low"   # quick

[mcp_servers.files]
command = "true"

[tools]
web_search = false
`,
    '.codex/hooks.json': `{ "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "true" } ] } ] } }
`,
  },
  trusting: project => ({ '.codex/config.toml': `[projects."${project}"]\ntrust_level = "trusted"\n` }),
  rewrites: [],
  terminal: {
    args: codexModel,
    ready: 'Ask Codex to do anything',
  },
}

/** Settings that lead Codex to a scripted model, on the command line: the file is setup's alone. */
function codexModel(modelUrl: string): readonly string[] {
  return [
    'model="fake"',
    'model_provider="fake"',
    'check_for_update_on_startup=false',
    `model_providers.fake={name="fake",base_url="${modelUrl}/v1",env_key="FAKE_KEY",wire_api="responses",request_max_retries=0,stream_max_retries=0}`,
  ].flatMap(setting => ['-c', setting])
}
