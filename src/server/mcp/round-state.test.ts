import type { ServerContext } from '@modelcontextprotocol/server'
import { expect, it, onTestFinished, vi } from 'vitest'
import { roundStateCodec } from './waiters.ts'

const CTX = { mcpReq: { method: 'tools/call' } } as ServerContext
const DAY_MS = 86_400_000

it('[MC22] the state of a round is valid as long as a review can wait, and only with its secret', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const codec = roundStateCodec('a secret')
  const state = { review: 'rev_1', round: 1, call: 'hash' }
  const sealed = await codec.mint(state, CTX)
  vi.setSystemTime(Date.now() + 400 * DAY_MS)
  expect(await codec.verify(sealed, CTX)).toEqual(state)
  await expect(roundStateCodec('another secret').verify(sealed, CTX)).rejects.toThrow()
})
