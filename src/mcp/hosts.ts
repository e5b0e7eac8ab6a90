import type { HookHost } from '../hooks/event.ts'
import type { FormKind } from './review-form.ts'

/** What we know of a host, by the name of its client. Versions and dates are in docs/hosts. */
export interface HostTraits {
  /** Its name for people. */
  readonly label?: string
  /** How long it waits for a call. Default: `DEFAULT_WAIT_LIMITS.holdMs`. */
  readonly holdMs?: number
  /** Progress resets its limit: a call that sends some can be held until it is decided. */
  readonly progressResetsLimit?: true
  /** `rows` if its forms show defaults, and fields in the order of the schema. */
  readonly form?: FormKind
  /** The host's hooks see the URLs that its person is asked to open. */
  readonly sharesUrls?: true
  /** It gives a prompt the first word of what was typed, and the model all of it beside the prompt. */
  readonly splitsArguments?: true
  /** The variable in which it tells its servers the id of the session. */
  readonly sessionVariable?: string
  /** The variable that says how it was started; `sdk-cli` means without a person. */
  readonly entrypointVariable?: string
  /** Its hooks are commands: another process hears of them. */
  readonly hookHost?: HookHost
}

const CLAUDE_VARIABLES = {
  sessionVariable: 'CLAUDE_CODE_SESSION_ID',
  entrypointVariable: 'CLAUDE_CODE_ENTRYPOINT',
} as const

/** By the client's name, or the beginning of it up to a dash. */
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

/** Only for hosts that we do not know: one that was started from Claude Code's shell inherits its variables. */
const UNKNOWN: HostTraits = CLAUDE_VARIABLES

export function traitsOf(client = ''): HostTraits {
  const name = Object.keys(HOSTS).find(each => client === each || client.startsWith(`${each}-`))
  return HOSTS[name ?? ''] ?? UNKNOWN
}
