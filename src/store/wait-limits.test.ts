import { expect, it } from 'vitest'
import { TIMEOUT_MS } from './postgres/connections.ts'
import { lockMsOf } from './postgres/session.ts'
import { MAX_WAIT_MS } from './sqlite/open.ts'

/** Leaves one of the five seconds in which a request is answered. */
const MOST_MS = 4_000

it('[PG9] no wait for PostgreSQL takes longer than four seconds, and that for a lock ends before the call', () => {
  expect(TIMEOUT_MS).toBeLessThanOrEqual(MOST_MS)
  expect(lockMsOf(TIMEOUT_MS)).toBeLessThan(TIMEOUT_MS)
})

it('[SQ7] no wait for a lock on SQLite takes longer than four seconds', () => {
  expect(MAX_WAIT_MS).toBeLessThanOrEqual(MOST_MS)
})
