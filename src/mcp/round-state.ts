import { createHash } from 'node:crypto'
import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server'
import type { AskMethod } from './elicitor.ts'

/** What a 2026 client sends back with each round of a waiting call. Sealed, so that clients cannot alter it. */
export interface RoundState {
  readonly review: string
  readonly method: AskMethod
  readonly round: number
  /** The hash of the call, so that it is of no use for another one. */
  readonly call: string
}

/** A review waits up to a day; one more hour for clocks that differ. */
const TTL_S = 86_400 + 3_600

/** Seals round states. Any node with the same secret can open them. */
export const roundStateCodec = (secret: string): RequestStateCodec<RoundState> =>
  createRequestStateCodec<RoundState>({
    key: createHash('sha256').update('runsheet rounds\0').update(secret).digest(),
    ttlSeconds: TTL_S,
    bind: ({ mcpReq }) => mcpReq.method,
  })

/** Identifies a call by what was sent: a client sends the same in every round. */
export const callHash = (tool: string, input: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([tool, input]))
    .digest('base64url')
