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

/** How long calls wait for a person, and how often they send progress. */
export interface WaitLimits {
  /** How long a 2025 call is held. Clients time out after 60 s by default. */
  readonly holdMs: number
  /** How long one round of a 2026 call is held. */
  readonly roundMs: number
  /** Rounds before a 2026 call answers `pending_review`. Clients give up after ten. */
  readonly maxRounds: number
  readonly progressIntervalMs: number
  /** How long an open page has to show the review before the client asks as well. */
  readonly panelMs: number
  /** How long a question or an answer waits for the page's URL. */
  readonly pageUrlMs: number
  /** Faster answers to a form or a link come from a machine. */
  readonly personMs: number
}

export const DEFAULT_WAIT_LIMITS: WaitLimits = {
  holdMs: 50_000,
  roundMs: 25_000,
  maxRounds: 8,
  progressIntervalMs: 5_000,
  panelMs: 700,
  pageUrlMs: 2_000,
  personMs: 1_000,
}

/** `sendsProgress`: the client requested progress. */
export function limitsOf({ holdMs, progressResetsLimit }: HostTraits, sendsProgress: boolean): Partial<WaitLimits> {
  if (progressResetsLimit && sendsProgress) return { holdMs: Infinity, roundMs: Infinity }
  return holdMs === undefined ? {} : { holdMs, roundMs: holdMs }
}
