import { LIMITS, isId, line } from '../core/model/text.ts'

/**
 * How a host's hooks reach us: as a call of our hidden tool, as a command, or through a plugin of ours that runs the
 * command.
 */
type HookWay = 'tool' | 'command' | 'plugin'

/** What is known of a host. Versions and dates are in docs/hosts. */
export interface HostTraits {
  readonly label?: string
  /** Its MCP client name, or the part of it before a dash. */
  readonly client?: string
  readonly hooks?: HookWay
  /** Variables that its agent's shell has. */
  readonly shell?: readonly string[]
  /** How long it waits for a call, if that is known. */
  readonly holdMs?: number
  /** Progress resets its timeout, so a call that sends progress can be held until it is decided. */
  readonly progressResetsLimit?: true
  /** `rows` if its forms show defaults, and fields in the order of the schema; `screen` if they are one choice. */
  readonly form?: 'rows' | 'screen'
  /** Its hooks see the URLs that its person is asked to open. */
  readonly sharesUrls?: true
  /** It passes a prompt only the first word of the arguments, and gives the model the whole text separately. */
  readonly splitsArguments?: true
  /** The variable that holds the session id. */
  readonly sessionVariable?: string
  /** The variable that says how it was started; `sdk-cli` means without a person. */
  readonly entrypointVariable?: string
}

const CLAUDE_VARIABLES = {
  sessionVariable: 'CLAUDE_CODE_SESSION_ID',
  entrypointVariable: 'CLAUDE_CODE_ENTRYPOINT',
} as const

// A new host is a line here and a file in setup/hosts; hooks of a form of their own are in hooks/payload.ts.
const TABLE = {
  'claude-code': {
    label: 'Claude Code',
    client: 'claude-code',
    hooks: 'tool',
    shell: ['CLAUDECODE'],
    holdMs: 540_000,
    form: 'rows',
    sharesUrls: true,
    splitsArguments: true,
    ...CLAUDE_VARIABLES,
  },
  codex: {
    label: 'Codex',
    client: 'codex-mcp-client',
    hooks: 'tool',
    shell: ['CODEX_CI', 'CODEX_THREAD_ID'],
    holdMs: 280_000,
    form: 'screen',
  },
  gemini: {
    label: 'Gemini CLI',
    client: 'gemini-cli-mcp-client',
    hooks: 'command',
    shell: ['GEMINI_CLI'],
    holdMs: 540_000,
  },
  opencode: {
    label: 'OpenCode',
    client: 'opencode',
    hooks: 'plugin',
    shell: ['OPENCODE'],
    progressResetsLimit: true,
  },
  qwen: { label: 'Qwen Code', client: 'qwen-cli-mcp-client', hooks: 'command', shell: ['QWEN_CODE'] },
  cursor: { label: 'Cursor' },
  vscode: { label: 'VS Code' },
  zed: { label: 'Zed' },
} as const satisfies Readonly<Record<string, HostTraits>>

export type HostName = keyof typeof TABLE
/** A host whose hooks reach us. */
export type HookHost = { [K in HostName]: (typeof TABLE)[K] extends { hooks: HookWay } ? K : never }[HostName]

export const HOSTS: Readonly<Record<HostName, HostTraits & { readonly label: string }>> = TABLE
export const HOST_NAMES = Object.keys(TABLE) as readonly HostName[]
export const HOOK_HOSTS = HOST_NAMES.filter((name): name is HookHost => HOSTS[name].hooks !== undefined)

/** The host of an MCP client. */
export const hostOf = (client: string): HostName | undefined =>
  HOST_NAMES.find(name => {
    const { client: known } = HOSTS[name]
    return known !== undefined && (client === known || client.startsWith(`${known}-`))
  })

/** Of an unknown client: one started from Claude Code's shell inherits its variables. */
const UNKNOWN: HostTraits = CLAUDE_VARIABLES

export function traitsOf(client = ''): HostTraits {
  const name = hostOf(client)
  return name === undefined ? UNKNOWN : HOSTS[name]
}

/** The host whose hooks are commands, so that another process receives them. */
export function commandHost(client = ''): HookHost | undefined {
  const name = hostOf(client)
  return HOOK_HOSTS.find(each => each === name && HOSTS[each].hooks === 'command')
}

/** The host whose hooks call our tool. */
export const toolHost = (client: string | undefined): HookHost | undefined =>
  HOOK_HOSTS.find(each => HOSTS[each].hooks === 'tool' && HOSTS[each].client === client)

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

/** Converts a host's id to ours. Hosts do not know our id format, so an id that does not fit is hashed, not refused. */
export function hostId(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined
  return isId(raw) ? raw : `host-${hashed(raw)}`
}

/** Like `hostId`, for ids that are not used in paths. */
export function hostReference(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined
  return line(raw, LIMITS.reference) === raw ? raw : `host-${hashed(raw)}`
}

function hashed(text: string): string {
  // Lazy import: every module delays the hook, and most ids fit.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(text.toWellFormed()).digest('hex').slice(0, 32)
}
