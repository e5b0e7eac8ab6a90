import type { Redactor } from './redact.ts'
import { clip, isBlank } from './text.ts'

/**
 * Who made a decision, and from where.
 *
 * The edge that let the request in builds it; nothing that a client sends sets any field but `claimed`.
 */
export interface Origin {
  /**
   * Whose right it was made with.
   *
   * `program`: the program that has the library or a task file.
   */
  readonly actor: 'person' | 'agent' | 'program' | 'system'
  /**
   * The way in.
   *
   * A request of the page, another HTTP request, a tool call, form or link over MCP, `runsheet review`, …
   */
  readonly edge: 'page' | 'http' | 'mcp' | 'mcp_form' | 'mcp_link' | 'terminal' | 'library' | 'turn' | 'file' | 'system'
  /** The name of the credential: `person`, `page` or `agent` for our own tokens, else what `authenticate` returned. */
  readonly credential?: string
  /** The address of the other machine. */
  readonly address?: string
  /** What the client says about itself, unchecked. */
  readonly claimed?: { readonly client: string }
}

/** Of a client's and a credential's name, in code points. */
const MAX_NAME = 80
const MAX_KNOWN = 100
const MAX_KNOWN_LENGTH = 500

/** What an edge may know besides actor and edge. */
interface Known {
  readonly credential?: string | undefined
  readonly address?: string | undefined
  readonly client?: string | undefined
}

/** An origin with what is known of it. */
export function originOf(
  actor: Origin['actor'],
  edge: Origin['edge'],
  { credential, address, client }: Known = {},
): Origin {
  return {
    actor,
    edge,
    ...(credential === undefined ? {} : { credential }),
    ...(address === undefined ? {} : { address }),
    ...(client === undefined ? {} : { claimed: { client } }),
  }
}

export const SYSTEM: Origin = { actor: 'system', edge: 'system' }

/** A name as it is recorded: without secrets and control characters, cut to 80 code points; undefined if it is blank. */
export type OriginName = (raw: string | null | undefined) => string | undefined

/** Makes names for the record. The same few come with every request, so they are remembered. */
export function originNames(redact: Redactor): OriginName {
  const known = new Map<string, string>()
  // Redacted before it is cut: half a secret would not be recognised.
  const made = (raw: string): string => clip(redact.line(raw.toWellFormed()), MAX_NAME)
  return raw => {
    if (!raw || isBlank(raw)) return undefined
    const name = known.get(raw) ?? made(raw)
    if (known.size >= MAX_KNOWN) known.clear()
    if (raw.length <= MAX_KNOWN_LENGTH) known.set(raw, name)
    return name
  }
}

/** The address of the other machine; undefined for this one. */
export function remoteAddress(address: string | undefined): string | undefined {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/, '')
  return plain === undefined || plain === '::1' || plain.startsWith('127.') ? undefined : plain
}

/** Data of an event without its origin: what the state and the rows keep. */
export function withoutOrigin<T extends { readonly origin?: Origin }>(data: T): Omit<T, 'origin'> {
  const { origin: _, ...rest } = data
  return rest
}
