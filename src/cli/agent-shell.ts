import type { Environment } from './clean-environment.ts'

/** Variables that agents set in their shells. */
const MARKS: Readonly<Record<string, string>> = {
  CLAUDECODE: 'Claude Code',
  CODEX_CI: 'Codex',
  CODEX_THREAD_ID: 'Codex',
  GEMINI_CLI: 'Gemini CLI',
  QWEN_CODE: 'Qwen Code',
  OPENCODE: 'OpenCode',
}

/**
 * The agent whose shell this is, if it says so. This stops an agent from deciding by accident, not on purpose: it has
 * its user's rights.
 */
export function agentShell(environment: Environment): string | undefined {
  const name = Object.keys(MARKS).find(each => environment[each])
  return name === undefined ? undefined : MARKS[name]
}
