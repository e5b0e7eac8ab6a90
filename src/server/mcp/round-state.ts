import { createHash } from 'node:crypto'
import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server'
import type { Instant } from '../../core/model/instant.ts'
import type { Question } from './elicitor.ts'

/** Returned by a 2026 client with each round of a waiting call. Sealed, so that clients cannot alter it. */
export interface RoundState {
  readonly review: string
  /** The client's question and its store time; absent while it only waits. */
  readonly asked?: Question & { readonly at: Instant }
  readonly round: number
  /** A hash of the call, the same in every round, so that the state is useless for another call. */
  readonly call: string
}

/** A century: the review decides how long it is valid, and a review may have no deadline. */
const TTL_S = 100 * 365 * 86_400

/** Seals round states. Any node with the same secret can open them. */
export const roundStateCodec = (secret: string): RequestStateCodec<RoundState> =>
  createRequestStateCodec<RoundState>({
    key: createHash('sha256').update('runsheet rounds\0').update(secret).digest(),
    ttlSeconds: TTL_S,
    bind: ({ mcpReq }) => mcpReq.method,
  })
