import type { HookHost } from '../hooks/event.ts'
import type { FormKind } from './review-form.ts'

/** Known traits of a host, by its client name. Versions and dates are in docs/hosts. */
export interface HostTraits {
  readonly label?: string
  /** How long it waits for a call. Default: `DEFAULT_WAIT_LIMITS.holdMs`. */
  readonly holdMs?: number
  /** Progress resets its timeout, so a call that sends progress can be held until it is decided. */
  readonly progressResetsLimit?: true
  /** `rows` if its forms show defaults, and fields in the order of the schema. */
  readonly form?: FormKind
  /** Its hooks see the URLs that its person is asked to open. */
  readonly sharesUrls?: true
  /** It passes a prompt only the first word of the arguments, and gives the model the whole text separately. */
  readonly splitsArguments?: true
  /** The variable that holds the session id. */
  readonly sessionVariable?: string
  /** The variable that says how it was started; `sdk-cli` means without a person. */
  readonly entrypointVariable?: string
  /** Its hooks are commands, so another process receives them. */
  readonly hookHost?: HookHost
}

const CLAUDE_VARIABLES = {
  sessionVariable: 'CLAUDE_CODE_SESSION_ID',
  entrypointVariable: 'CLAUDE_CODE_ENTRYPOINT',
} as const

/** By the client's name, or its part before a dash. */
const HOSTS: Readonly<Record<string, HostTraits>> = {
  'claude-code': {
    label: 'Claude Code',
    holdMs: 540_000,
    form: 'rows',
    sharesUrls: true,
    splitsArguments: true,
    ...CLAUDE_VARIABLES,
  },
  'codex-mcp-client': { label: 'Codex', holdMs: 280_000, form: 'screen' },
  'gemini-cli-mcp-client': { label: 'Gemini CLI', holdMs: 540_000, hookHost: 'gemini' },
  opencode: { label: 'OpenCode', progressResetsLimit: true },
  'qwen-cli-mcp-client': { label: 'Qwen Code', hookHost: 'qwen' },
}

/** Only for unknown hosts: one started from Claude Code's shell inherits its variables. */
const UNKNOWN: HostTraits = CLAUDE_VARIABLES

export function traitsOf(client = ''): HostTraits {
  const name = Object.keys(HOSTS).find(each => client === each || client.startsWith(`${each}-`))
  return HOSTS[name ?? ''] ?? UNKNOWN
}
