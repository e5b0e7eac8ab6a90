import { createHash } from 'node:crypto'
import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server'
import type { Round } from './review.ts'

/** As long as a review may wait. */
const LASTS_S = 86_400 + 3_600

/** Seals what a client brings back. Every node that has the secret can open it, so that a round may come to any of them. */
export const roundCodec = (secret: string): RequestStateCodec<Round> =>
  createRequestStateCodec<Round>({
    key: createHash('sha256').update('runsheet rounds\0').update(secret).digest(),
    ttlSeconds: LASTS_S,
    bind: ({ mcpReq }) => mcpReq.method,
  })
