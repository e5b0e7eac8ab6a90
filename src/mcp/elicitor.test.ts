import type { McpServer, ServerContext } from '@modelcontextprotocol/server'
import { expect, it, onTestFinished } from 'vitest'
import { type Door, openDoor } from '../door/door.ts'
import { openMemoryStore } from '../store/memory.ts'
import { beginCall } from '../toolsets/calls.ts'
import { toolsets } from '../toolsets/index.ts'
import { type ElicitMethod, Elicitor, type WaitingCall } from './elicitor.ts'
import { DEFAULT_WAIT_LIMITS } from './wait-limits.ts'

const HOUR_MS = 3_600_000

it("[MC20] a review that is overdue by the store's clock is not asked", async () => {
  let skewMs = 0
  const { door, call } = await pendingReview(() => skewMs)
  expect(await methodsFor(door, call)).toEqual(['form'])
  skewMs = HOUR_MS
  expect(await methodsFor(door, call)).toEqual([])
})

it("[MC20] a review that is overdue only by this process's clock is asked", async () => {
  const { door, call } = await pendingReview(() => -HOUR_MS)
  expect(await methodsFor(door, call)).toEqual(['form'])
})

/** A review that expires after a minute of the store's time. */
async function pendingReview(skewMs: () => number): Promise<{ door: Door; call: WaitingCall }> {
  const door = openDoor({ store: openMemoryStore({ skewMs }) })
  onTestFinished(() => door.close())
  const ref = { tenant: 'local', conversation: 'chat-1' }
  const context = { door, ...ref, turn: 'turn-1', host: { review_timeout_ms: 60_000 } }
  const input = { tasks: [{ title: 'Look' }] }
  const begun = await beginCall(toolsets.runsheet, 'plan', input, context)
  if (begun.status !== 'pending_review') throw new Error(`the call is ${begun.status}`)
  const review = (await door.read(ref)).reviews.get(begun.review_id)
  if (!review) throw new Error('no review was opened')
  return { door, call: { tool: 'plan', input, review, context } }
}

function methodsFor(door: Door, call: WaitingCall): Promise<readonly ElicitMethod[]> {
  const client = { server: { getClientCapabilities: () => ({ elicitation: { form: {} } }) } }
  const elicitor = new Elicitor({
    door,
    server: client as McpServer,
    era: 'legacy',
    isPerson: true,
    pageUrl: async () => undefined,
    closing: new AbortController().signal,
    waitLimits: { ...DEFAULT_WAIT_LIMITS, panelMs: 1 },
  })
  return elicitor.methods(call, { mcpReq: {} } as ServerContext)
}
