import type { McpServer, ServerContext } from '@modelcontextprotocol/server'
import { expect, it, onTestFinished } from 'vitest'
import { type Door, openDoor } from '../../engine/door/door.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { beginCall } from '../../engine/toolsets/calls.ts'
import { toolsets } from '../../engine/toolsets/index.ts'
import { Elicitor, type ElicitorDeps, type Step, type WaitingCall } from './elicitor.ts'
import { DEFAULT_WAIT_LIMITS } from '../../hosts/hosts.ts'

const HOUR_MS = 3_600_000
const CTX = { mcpReq: {} } as ServerContext
const CHOICE = { kind: 'ask', question: { screen: 'choice', refused: 0 } }
const APPROVED = { action: 'accept', content: { decision: 'Approve as proposed' } } as const

it("a review that is overdue by the store's clock is not asked", async () => {
  let skewMs = 0
  const { door, call } = await pendingReview(() => skewMs, { review_timeout_ms: 60_000 })
  expect(await elicitorAt(door).first(call, CTX)).toEqual(CHOICE)
  skewMs = HOUR_MS
  expect(await elicitorAt(door).first(call, CTX)).toEqual({ kind: 'wait' })
})

it("a review that is overdue only by this process's clock is asked", async () => {
  const { door, call } = await pendingReview(() => -HOUR_MS, { review_timeout_ms: 60_000 })
  expect(await elicitorAt(door).first(call, CTX)).toEqual(CHOICE)
})

it('a review without a deadline is never overdue', async () => {
  let skewMs = 0
  const { door, call } = await pendingReview(() => skewMs, { review_timeout_ms: null })
  skewMs = 365 * 24 * HOUR_MS
  expect(await elicitorAt(door).first(call, CTX)).toEqual(CHOICE)
})

it("[MC40] whether a second has passed goes by the store's clock", async () => {
  let skewMs = 0
  const { door, call } = await pendingReview(() => skewMs)
  const elicitor = elicitorAt(door)
  const answered = async (waitedMs: number): Promise<Step> => {
    const at = await door.now()
    skewMs += waitedMs
    return elicitor.answered(call, { screen: 'choice', refused: 0, at }, APPROVED, CTX)
  }
  const status = async (): Promise<string | undefined> => {
    const state = await door.read({ tenant: 'local', conversation: 'chat-1' })
    return state.reviews.get(call.review.review_id)?.status
  }
  await answered(500)
  expect(await status()).toBe('pending')
  expect(await answered(1_000)).toEqual({ kind: 'wait' })
  expect(await status()).toBe('confirmed')
})

it('the browser is opened once for a review, without a code, and not for one that a page shows', async () => {
  const { door, call } = await pendingReview(() => 0)
  const opened: string[] = []
  const browser = { openBrowser: (url: string) => opened.push(url), pageUrl: async () => 'http://page/?chat=chat-1' }
  const elicitor = elicitorAt(door, browser)
  await elicitor.showPage(call, CTX)
  await elicitor.showPage(call, CTX)
  expect(opened).toEqual(['http://page/?chat=chat-1'])
  const { review_id } = call.review
  await door.run({ tenant: 'local', conversation: 'chat-1' }, { type: 'show_panel', review_id, panel: 'a' })
  await elicitorAt(door, browser).showPage(call, CTX)
  expect(opened).toHaveLength(1)
})

it('the browser is not opened where no person is at the host', async () => {
  const { door, call } = await pendingReview(() => 0)
  const opened: string[] = []
  const elicitor = elicitorAt(door, {
    openBrowser: url => opened.push(url),
    pageUrl: async () => 'http://page/',
    environment: { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' },
  })
  expect(await elicitor.first(call, CTX)).toEqual({ kind: 'wait' })
  await elicitor.showPage(call, CTX)
  expect(opened).toEqual([])
})

async function pendingReview(
  skewMs: () => number,
  policy: { review_timeout_ms?: number | null } = {},
): Promise<{ door: Door; call: WaitingCall }> {
  const door = openDoor({ store: openMemoryStore({ skewMs }) })
  onTestFinished(() => door.close())
  const ref = { tenant: 'local', conversation: 'chat-1' }
  const context = { door, ...ref, turn: 'turn-1', host: policy }
  const input = { tasks: [{ title: 'Look' }] }
  const begun = await beginCall(toolsets.runsheet, 'plan', input, context)
  if (begun.status !== 'pending_review') throw new Error(`the call is ${begun.status}`)
  const review = (await door.read(ref)).reviews.get(begun.review_id)
  if (!review) throw new Error('no review was opened')
  return { door, call: { tool: 'plan', input, review, context, origin: { actor: 'agent', edge: 'mcp' } } }
}

function elicitorAt(door: Door, more: Partial<ElicitorDeps> = {}): Elicitor {
  const server = { getClientCapabilities: () => ({ elicitation: { form: {} } }), getClientVersion: () => undefined }
  return new Elicitor({
    door,
    server: { server } as McpServer,
    era: 'legacy',
    isPerson: true,
    pageUrl: async () => undefined,
    closing: new AbortController().signal,
    waitLimits: { ...DEFAULT_WAIT_LIMITS, panelMs: 1 },
    ...more,
  })
}
