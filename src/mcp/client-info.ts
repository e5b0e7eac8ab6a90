import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { type HostTraits, traitsOf } from '../hosts/hosts.ts'

export interface ClientInfo {
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
