import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { hostId, hostReference, traitsOf, type HostTraits } from '../../hosts/hosts.ts'

interface ClientInfo {
  readonly name: string | undefined
  /** Display name. */
  readonly label: string | undefined
  readonly program: string
  readonly traits: HostTraits
  readonly capabilities: ClientCapabilities
}

/** A 2026 client describes itself in every request, a 2025 client once. */
export function clientOf({ server }: McpServer, { mcpReq }: ServerContext): ClientInfo {
  const envelope: Envelope | undefined = mcpReq.envelope
  const { name, title, version } = envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion() ?? {}
  const traits = traitsOf(name)
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {}
  const program = [name, version].join(' ').trim()
  return { name, program, label: traits.label ?? title ?? name, traits, capabilities }
}

interface Envelope {
  readonly [CLIENT_INFO_META_KEY]?: Partial<Implementation>
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities
}

export type Meta = Readonly<Record<string, unknown>>
export type Environment = Readonly<Record<string, string | undefined>>

interface HostMeta {
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

/** A name for a title is not worth a longer wait. */
const TITLE_MS = 1_000
/** A host may ask its user first. */
const ANSWER_MS = 60_000

/** The folder name of a 2025 client's first root. */
export async function firstRoot({ mcpReq }: ServerContext): Promise<string | undefined> {
  const { roots } = await mcpReq.send({ method: 'roots/list' }, { timeout: TITLE_MS })
  const [root] = roots
  if (!root || !URL.canParse(root.uri)) return undefined
  return root.name ?? (basename(decodeURIComponent(new URL(root.uri).pathname)) || undefined)
}

/** Paths of a 2025 client's roots, in order. They need not exist on this machine. */
export async function rootPaths(server: McpServer['server']): Promise<readonly string[]> {
  const { roots } = await server.listRoots(undefined, { timeout: ANSWER_MS })
  return roots.flatMap(({ uri }) => pathOf(uri) ?? [])
}

function pathOf(uri: string): string | undefined {
  if (!URL.canParse(uri) || new URL(uri).protocol !== 'file:') return undefined
  try {
    return fileURLToPath(uri)
  } catch {
    // From a host on another machine, or with an invalid escape.
    return undefined
  }
}
