import type { HostName } from './hosts.ts'
import type { Host } from './host.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { cursor, vscode, zed } from './editors.ts'
import { gemini } from './gemini.ts'
import { opencodeWith } from './opencode.ts'
import { qwen } from './qwen.ts'

/** `plugin` is the text of OpenCode's plugin. */
export const hostsWith = (plugin: string): Readonly<Record<HostName, Host>> => ({
  'claude-code': claudeCode,
  codex,
  gemini,
  opencode: opencodeWith(plugin),
  qwen,
  cursor,
  vscode,
  zed,
})
