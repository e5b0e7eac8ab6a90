import { getEventListeners } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDoor } from '../../engine/door/door.ts'
import { openMemoryStore } from '../../store/memory.ts'
import type { Answer, Call, Deps, Parts } from '../http/route.ts'
import { toolsetRoutes } from './toolsets.ts'

const CALLS = 40

describe('a call that waits for a person', () => {
  it('[HT22] leaves nothing behind once it is answered: neither a timer nor a listener', async () => {
    const door = openDoor({ store: openMemoryStore() })
    onTestFinished(() => door.close())
    const closing = new AbortController().signal
    const deps = { door, host: { review: true }, reviewWaitMs: 3_600_000, closing }
    const { signal } = new AbortController()
    const call = (turn_id: string): Promise<Answer | Response> => {
      const body = { session_id: 'c', turn_id, arguments: { tasks: [{ title: 'A' }] } }
      const asked = {
        params: { name: 'runsheet', tool: 'plan' },
        query: {},
        body,
        caller: { role: 'agent', tenant: 'local' },
        signal,
      }
      return plan.handle(asked as unknown as Call<unknown, unknown, unknown>, deps as unknown as Deps & Parts)
    }
    const before = timers()
    const calls = Array.from({ length: CALLS }, (_, index) => call(`t${index}`))
    await expect.poll(() => getEventListeners(closing, 'abort').length).toBe(CALLS)
    const { pending_reviews } = await door.read({ tenant: 'local', conversation: 'c' })
    for (const id of pending_reviews) await door.reviews.decide('local', id, { action: 'cancel' }, 'http')
    for (const answer of await Promise.all(calls)) expect(answer).toMatchObject({ status: 200 })
    for (const each of [closing, signal]) expect(getEventListeners(each, 'abort')).toEqual([])
    // A few may be of others.
    expect(timers() - before).toBeLessThan(CALLS / 2)
  })
})

const plan = toolsetRoutes.find(({ method }) => method === 'post') ?? toolsetRoutes[0]!

const timers = (): number => process.getActiveResourcesInfo().filter(each => each === 'Timeout').length
