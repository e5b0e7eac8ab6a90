import { hostId, hostReference } from '../hooks/host-id.ts'
import { traitsOf } from '../hosts/hosts.ts'

export type Meta = Readonly<Record<string, unknown>>
export type Environment = Readonly<Record<string, string | undefined>>

export interface HostMeta {
  readonly session?: string
  readonly turn?: string
  readonly call?: string
  /** The host runs a script, without a person. */
  readonly isHeadless: boolean
}

const CODEX_TURN = 'x-codex-turn-metadata'
const CLAUDE_CALL = 'claudecode/toolUseId'

export function hostMeta(meta: Meta = {}, client?: string): HostMeta {
  const turn = asRecord(meta[CODEX_TURN])
  // Any client may send `sessionId` and `callId`, so they are trusted only from Codex.
  const isCodex = turn !== undefined || client === 'codex-mcp-client'
  const session = isCodex ? hostId(meta['sessionId']) : undefined
  const turnId = hostId(turn?.['turn_id'])
  const call = hostReference(meta[CLAUDE_CALL]) ?? (isCodex ? hostReference(meta['callId']) : undefined)
  return {
    ...(session === undefined ? {} : { session }),
    ...(turnId === undefined ? {} : { turn: turnId }),
    ...(call === undefined ? {} : { call }),
    isHeadless: turn?.['turn_trigger'] === 'exec',
  }
}

/** The host's session, from the environment that it passed. */
export function sessionIn(environment: Environment, client: string | undefined): string | undefined {
  const { sessionVariable = '' } = traitsOf(client)
  return hostId(environment[sessionVariable])
}

/** Whether the host was started without a person, like `claude -p`. */
export function isHeadlessIn(environment: Environment, client: string | undefined): boolean {
  const { entrypointVariable = '' } = traitsOf(client)
  return environment[entrypointVariable] === 'sdk-cli'
}

const asRecord = (raw: unknown): Meta | undefined =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? (raw as Meta) : undefined
