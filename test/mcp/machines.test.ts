import type { CallToolResult, ElicitResult } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  afterALook,
  chosen,
  type Era,
  type Host,
  hostOf,
  type HostOptions,
  type McpTestServer,
  overHttp,
  PLAN,
  startMcpServer,
  waiting,
} from '../support/mcp.ts'
import { TOKENS } from '../support/server.ts'

// Clients that behave as hosts were seen to: docs/hosts has versions and dates.

const BOTH = { elicitation: { form: {}, url: {} } }
const CONFIRM = { action: 'confirm', tasks: [{ title: 'By a person' }] } as const

let server: McpTestServer

beforeEach(async () => {
  server = await startMcpServer({ waitLimits: { panelMs: 1 } })
})
afterEach(() => server.close())

async function connected(era: Era, options: Omit<HostOptions, 'era'>): Promise<Host & { ways: string[] }> {
  const host = hostOf({ era, capabilities: BOTH, ...options })
  onTestFinished(() => host.client.close())
  await overHttp(server, host, { headers: { 'runsheet-session': 'c1' } })
  return {
    ...host,
    get ways() {
      return host.asked.map(({ mode = 'form' }) => mode)
    },
  }
}

const at = (ms: number, answer: ElicitResult) => async (): Promise<ElicitResult> => {
  await new Promise(resolve => setTimeout(resolve, ms))
  return answer
}

describe.each([
  ['Codex declines within a millisecond', '2025', 'codex-mcp-client', at(1, { action: 'decline' })],
  ['Claude Code cancels after 18 ms', '2026', 'claude-code', at(18, { action: 'cancel' })],
  ['a client accepts at once', '2025', 'a host', () => chosen('Approve as proposed')],
  ['a client accepts at once', '2026', 'a host', () => chosen('Approve as proposed')],
  ['Claude Code accepts the preselected choice at once', '2025', 'claude-code', () => chosen('Approve as shown')],
] as const)('%s, %s', (_, era, name, answers) => {
  it('[MC40][MC15] decides nothing: every way is tried once, then the page decides', async () => {
    const host = await connected(era, { name, answers })
    const answer = host.call('plan', PLAN)
    const { review_id } = await waiting(server.person)
    await expect.poll(() => host.ways).toEqual(['form', 'url'])
    await host.call('tasks')
    expect((await server.person.review(review_id)).review.status).toBe('pending')
    await server.person.decide(review_id, CONFIRM)
    expect((await answer).data).toMatchObject({ next: '1 By a person' })
  })
})

it('[MC40] the ways that a machine answered are not used again on this connection', async () => {
  const host = await connected('2025', { name: 'codex-mcp-client', answers: () => ({ action: 'decline' }) })
  for (const title of ['One', 'Two']) {
    const answer = host.call('plan', { tasks: [{ title }] })
    const { review_id } = await waiting(server.person)
    await expect.poll(() => host.ways).toEqual(['form', 'url'])
    await server.person.decide(review_id, { action: 'cancel' })
    expect((await answer).data).toMatchObject({ reason: 'user_cancelled' })
  }
  expect(host.ways).toEqual(['form', 'url'])
})

it('a client is not asked in a session without a person', async () => {
  const host = await connected('2025', { name: 'codex-mcp-client', answers: afterALook(() => ({ action: 'decline' })) })
  const answer = host.client.callTool({ name: 'plan', arguments: PLAN, _meta: codexMeta('exec') })
  const { review_id } = await waiting(server.person)
  await server.person.decide(review_id, CONFIRM)
  expect((await answer).structuredContent).toMatchObject({ next: '1 By a person' })
  expect(host.asked).toEqual([])
})

it('[MC40] the person at the wizard of Codex is asked one field, and one key approves', async () => {
  const host = await connected('2025', {
    name: 'codex-mcp-client',
    answers: afterALook(() => chosen('Approve as proposed')),
  })
  const answer = await host.client.callTool({ name: 'plan', arguments: PLAN, _meta: codexMeta('user') })
  expect(answer.structuredContent).toMatchObject({ ids: [1, 2], changes: 'none' })
  const [form] = host.asked
  expect(Object.keys(form && 'requestedSchema' in form ? form.requestedSchema.properties : {})).toEqual(['decision'])
})

it('a person who chooses the page gets a link; without a code where hooks see it', async () => {
  const answers = afterALook(({ mode }) => (mode === 'url' ? { action: 'accept' } : chosen('Edit on the page')))
  const links: string[] = []
  for (const name of ['claude-code', 'a host']) {
    const host = await connected('2026', { name, answers })
    const answer = host.call('plan', { tasks: [{ title: `For ${name}` }] })
    const { review_id } = await waiting(server.person)
    await expect.poll(() => host.ways, { timeout: 5_000 }).toEqual(['form', 'url'])
    const [, link] = host.asked
    links.push(link && 'url' in link ? link.url : '')
    await server.person.decide(review_id, { action: 'cancel' })
    await answer
  }
  expect(links[0]).toBe(`${server.url.href}?chat=c1`)
  expect(links[1]).toMatch(/#code=/)
})

it("a person reopens what a form rejected, and await_review answers the new review's decision", async () => {
  const host = await connected('2025', { answers: afterALook(() => ({ action: 'decline' })) })
  expect((await host.call('plan', PLAN)).data).toMatchObject({ reason: 'user_cancelled' })
  const [rejected] = (await server.person.session('c1')).reviews
  const { review } = await server.person.reopen(rejected?.review_id ?? '')
  const answer = host.call('await_review', { review_id: rejected?.review_id })
  await server.person.decide(review.review_id, CONFIRM)
  expect((await answer).data).toMatchObject({ next: '1 By a person' })
})

it('await_review of a plan that was sent back answers for the plan that revises it', async () => {
  const host = await connected('2025', { capabilities: {} })
  const first = host.call('plan', PLAN)
  const sentBack = await waiting(server.person)
  await server.person.decide(sentBack.review_id, { action: 'revise', comment: 'Shorter' })
  expect((await first).data).toMatchObject({ reason: 'changes_requested', comment: 'Shorter' })
  const second = host.call('plan', { tasks: [{ title: 'Leap' }] })
  const revised = await waiting(server.person)
  const answer = host.call('await_review', { review_id: sentBack.review_id })
  await server.person.decide(revised.review_id, CONFIRM)
  for (const each of [await second, await answer]) expect(each.data).toMatchObject({ next: '1 By a person' })
})

describe('ids of a host', () => {
  async function codex(): Promise<(meta: object, tasks?: object[]) => Promise<CallToolResult>> {
    const host = hostOf({ era: '2025', name: 'codex-mcp-client' })
    onTestFinished(() => host.client.close())
    await overHttp(server, host)
    return (meta, tasks = PLAN.tasks) =>
      host.client.callTool({ name: 'plan', arguments: { tasks }, _meta: { ...codexMeta('user'), ...meta } })
  }

  it('[MC3][MC6] conversation, turn and call are those of the host', async () => {
    const plan = await codex()
    const answer = plan({})
    const review = await waiting(server.person, 'thread-1')
    expect(review).toMatchObject({ conversation_turn_id: 'turn-1', tool_call_id: 'call_1' })
    await server.person.decide(review.review_id, CONFIRM)
    await answer
    // Another process of the same session finds the plan.
    const again = await codex()
    expect((await again({})).structuredContent).toMatchObject({ next: '1 By a person' })
  })

  it('a model that calls again under a new id of its host is not asked twice', async () => {
    const plan = await codex()
    const first = plan({})
    const { review_id } = await waiting(server.person, 'thread-1')
    const second = plan({ callId: 'call_2' })
    await expect.poll(() => server.door.reviews.waiters).toBeGreaterThanOrEqual(2)
    expect((await server.person.pendingReviews('thread-1')).reviews).toMatchObject([{ review_id }])
    await server.person.decide(review_id, CONFIRM)
    for (const each of [await first, await second]) expect(each.structuredContent).toMatchObject({ ids: [1] })
  })

  it('an id that the host uses twice does not fail the call', async () => {
    await server.person.setPolicy('thread-1', { review: false })
    const plan = await codex()
    await plan({}, [{ title: 'One' }])
    expect((await plan({}, [{ title: 'Two' }])).structuredContent).toMatchObject({ ids: [2] })
  })

  it('a conversation is named after the host and its plan', async () => {
    await server.person.setPolicy('thread-1', { review: false })
    const plan = await codex()
    await plan({})
    const { sessions } = await server.person.sessions()
    expect(sessions.map(({ title }) => title)).toEqual(['Codex · Look'])
  })
})

it('over HTTP, the folder is the first root of the client', async () => {
  await server.person.setPolicy('c1', { review: false })
  const host = hostOf({ era: '2025', name: 'opencode', capabilities: { roots: {} } })
  onTestFinished(() => host.client.close())
  host.client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home/ann/web%20site' }] }))
  await overHttp(server, host, { headers: { 'runsheet-session': 'c1' } })
  await host.call('plan', PLAN)
  const { sessions } = await server.person.sessions()
  expect(sessions.map(({ title }) => title)).toEqual(['OpenCode · web site · Look'])
})

it('malformed JSON is a parse error of JSON-RPC', async () => {
  const answer = await fetch(new URL('/mcp', server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKENS.agent}`, 'content-type': 'application/json' },
    body: '{"jsonrpc":',
  })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32_700, message: 'The body is not valid JSON.' },
  })
})

/** As Codex 0.166 sends it. */
function codexMeta(turn_trigger: string): Record<string, unknown> {
  const turn = { session_id: 'thread-1', turn_id: 'turn-1', turn_trigger }
  return { callId: 'call_1', sessionId: 'thread-1', 'x-codex-turn-metadata': turn }
}
