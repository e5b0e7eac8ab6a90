import type { Redactor } from '../text/redact.ts'
import { defined } from './defined.ts'
import { clip, isBlank } from './text.ts'

/**
 * The actor of a decision and the edge it came through.
 *
 * The edge that let the request in builds it; a client can set no field but `claimed`.
 */
export interface Origin {
  /**
   * The actor with whose permission it was made. `program`: the program that uses the library or writes a task file.
   */
  readonly actor: 'person' | 'agent' | 'program' | 'system'
  /**
   * The edge that it came through: a request of the page, another HTTP request, a tool call, form or link over MCP,
   * `runsheet review`, …
   */
  readonly edge: 'page' | 'http' | 'mcp' | 'mcp_form' | 'mcp_link' | 'terminal' | 'library' | 'turn' | 'file' | 'system'
  /**
   * The name of the credential: `person`, `page` or `agent` for our own tokens, else the name that `authenticate`
   * returned.
   */
  readonly credential?: string
  /** The address of the other machine; absent for this one. */
  readonly address?: string
  /** The client's name for itself, unverified. */
  readonly claimed?: { readonly client: string }
}

const MAX_NAME = 80

interface Known {
  readonly credential?: string | undefined
  readonly address?: string | undefined
  readonly client?: string | undefined
}

export function originOf(
  actor: Origin['actor'],
  edge: Origin['edge'],
  { credential, address, client }: Known = {},
): Origin {
  return {
    actor,
    edge,
    ...defined({ credential, address }),
    ...(client === undefined ? {} : { claimed: { client } }),
  }
}

export const SYSTEM: Origin = { actor: 'system', edge: 'system' }

/** A name for the record: without secrets and control characters, cut to 80 code points; undefined if it is blank. */
export type OriginName = (raw: string | null | undefined) => string | undefined

export const originNames =
  (redact: Redactor): OriginName =>
  raw =>
    // Redacted before it is cut: half a secret would not be recognized.
    !raw || isBlank(raw) ? undefined : clip(redact.line(raw.toWellFormed()), MAX_NAME)

export function remoteAddress(address: string | undefined): string | undefined {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/, '')
  return plain === undefined || plain === '::1' || plain.startsWith('127.') ? undefined : plain
}

export function withoutOrigin<T extends { readonly origin?: Origin }>(data: T): Omit<T, 'origin'> {
  const { origin: _, ...rest } = data
  return rest
}
