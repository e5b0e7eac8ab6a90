import type { Environment } from './clean-environment.ts'

/** What agents set for the commands that they run. */
const MARKS: Readonly<Record<string, string>> = {
  CLAUDECODE: 'Claude Code',
  CODEX_CI: 'Codex',
  CODEX_THREAD_ID: 'Codex',
  GEMINI_CLI: 'Gemini CLI',
  QWEN_CODE: 'Qwen Code',
  OPENCODE: 'OpenCode',
}

/**
 * The agent whose shell this is, if it says so. It keeps an agent from deciding by accident; one that wants to, with the
 * rights of its person, can.
 */
export function agentShell(environment: Environment): string | undefined {
  const name = Object.keys(MARKS).find(each => environment[each])
  return name === undefined ? undefined : MARKS[name]
}
