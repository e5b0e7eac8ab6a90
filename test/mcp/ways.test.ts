import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Client as Person } from '../../src/client/client.ts'
import { TOOLSETS, type ToolsetName } from '../../src/core/model/policy.ts'
import { type Child, inLongRun } from '../support/children.ts'
import {
  afterALook,
  chosen,
  type Era,
  FORM,
  type Host,
  hostOf,
  type HostOptions,
  type McpTestServer,
  overHttp,
  overStdio,
  personAt,
  PLAN,
  serveFolder,
  startMcpServer,
  URL_MODE,
  waiting,
} from '../support/mcp.ts'
import { CREATING } from '../support/reviews.ts'
import { scratchFolder } from '../support/scratch.ts'

const WAYS = [
  ['stdio', '2025'],
  ['stdio', '2026'],
  ['http', '2025'],
  ['http', '2026'],
] as const satisfies [string, Era][]

let scratch: string
let data: string
let page: Child
let server: McpTestServer
const hosts: Host[] = []

beforeAll(async () => {
  scratch = scratchFolder()
  data = join(scratch, 'data')
  ;[page, server] = await Promise.all([serveFolder(data), startMcpServer({ waitLimits: { panelMs: 50 } })])
})
afterAll(async () => {
  await Promise.all(hosts.map(({ client }) => client.close()))
  page.process.kill()
  await Promise.all([page.ended, server.close()])
  rmSync(scratch, { recursive: true })
})

// Concurrent, because most of them wait for a person who looks.
describe.concurrent.each(WAYS)('the official client over %s, %s', (transport, era) => {
  async function connected(
    options: Omit<HostOptions, 'era'> & { toolset?: ToolsetName; review?: boolean; session?: string } = {},
  ): Promise<Host & { person: Person; session: string }> {
    const { toolset = 'runsheet', review = true, session = `s-${crypto.randomUUID()}`, ...more } = options
    const host = hostOf({ era, ...more })
    hosts.push(host)
    if (transport === 'stdio') {
      const args = ['--toolset', toolset, '--review', review ? 'on' : 'off', '--session', session]
      return { ...(await overStdio(data, host, args)), person: personAt(data), session }
    }
    await server.person.setPolicy(session, { toolset, review })
    await overHttp(server, host, { headers: { 'runsheet-session': session } })
    return { ...host, person: server.person, session }
  }

  // Over stdio each toolset is a process: one is enough.
  const served = transport === 'stdio' ? (['runsheet'] as const) : (Object.keys(TOOLSETS) as ToolsetName[])
  it.each(served)('[MC1] serves %s: its tools with schemas and hints, and every answer fits', async toolset => {
    const { client, call, person, session } = await connected({ toolset })
    const { tools } = await client.listTools()
    const [creating, input] = CREATING[toolset]
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining([creating, 'await_review']))
    for (const tool of tools) {
      expect(tool).toMatchObject({
        description: expect.any(String),
        inputSchema: { type: 'object' },
        outputSchema: { type: 'object' },
        title: expect.stringMatching(/^[A-Z]/),
        annotations: { openWorldHint: false },
        _meta: { 'anthropic/alwaysLoad': true },
      })
    }
    // The client validates structured content against the output schema.
    const answer = call(creating, input as Record<string, unknown>)
    const { review_id } = await waiting(person, session)
    const { result } = await person.decide(review_id, { action: 'confirm', tasks: [{ title: 'Mine' }] })
    expect(await answer).toEqual({ text: JSON.stringify(result), data: result, isError: false })
    // The same for a declined plan, and for await_review.
    const again = call(creating, { ...(input as Record<string, unknown>) })
    const second = await waiting(person, session)
    await person.decide(second.review_id, { action: 'cancel', comment: 'no' })
    const refused = { confirmed: false, cancelled: true, reason: 'user_cancelled', comment: 'no' }
    expect((await again).data).toMatchObject(refused)
    expect((await call('await_review', { review_id: second.review_id })).data).toMatchObject(refused)
    const reading = tools.find(({ name, annotations }) => annotations?.readOnlyHint && name !== 'await_review')
    if (reading) expect((await call(reading.name)).data).toBeDefined()
  })

  it('a plan edited on the page arrives as edited', async () => {
    const { call, person, session } = await connected()
    const answer = call('plan', PLAN)
    const { review_id, draft_tasks } = await waiting(person, session)
    expect(draft_tasks.map(({ title }) => title)).toEqual(['Look', 'Leap'])
    await person.decide(review_id, {
      action: 'confirm',
      tasks: [{ draft_index: 1, title: 'Leap far' }, { title: 'Rest' }],
      comment: 'take care',
    })
    expect((await answer).data).toEqual({
      ids: [1, 2],
      next: '1 Leap far',
      remaining: 2,
      changes: { edited: [{ id: 1, title: 'Leap far' }], added: [{ id: 2, title: 'Rest' }], removed: ['Look'] },
      comment: 'take care',
    })
  })

  it('[MC15] a form asks for one choice about the plan', async () => {
    const { call, asked } = await connected({
      capabilities: FORM,
      answers: afterALook(() => chosen('Approve as proposed')),
    })
    expect((await call('plan', PLAN)).data).toEqual({ ids: [1, 2], next: '1 Look', remaining: 2, changes: 'none' })
    expect(asked).toHaveLength(1)
    expect(asked[0]?.message).toMatch(/\n\n1\. Look\n2\. Leap\n {3}Done when: landed$/)
    const choices = ['Approve as proposed', 'Request changes', 'Reject', 'Edit on the page']
    expect(formIn(asked[0])).toEqual({ decision: { type: 'string', title: 'Decision', enum: choices } })
  })

  it("a client that opens URLs gets the conversation's page with a sign-in code", async () => {
    const { call, asked, person, session } = await connected({
      capabilities: URL_MODE,
      answers: () => ({ action: 'accept' }),
    })
    const answer = call('plan', PLAN)
    const { review_id, session_id } = await waiting(person, session)
    const link = await opened(asked)
    expect(link.searchParams.get('chat')).toBe(session_id)
    expect(await person.login(link.hash.slice('#code='.length))).toEqual({ token: expect.any(String) })
    // Opening the page did not confirm.
    expect((await person.review(review_id)).review.status).toBe('pending')
    await person.decide(review_id, { action: 'confirm', tasks: [{ draft_index: 0 }, { draft_index: 1 }] })
    expect((await answer).data).toMatchObject({ ids: [1, 2], changes: 'none' })
  })

  it('a decision on the page wins over a later form', async () => {
    const late = Promise.withResolvers<ElicitResult>()
    const withdrawn = Promise.withResolvers<void>()
    const { call, asked, person, session } = await connected({
      capabilities: FORM,
      answers: (_, signal) => {
        signal.addEventListener('abort', () => withdrawn.resolve())
        return late.promise
      },
    })
    const answer = call('plan', PLAN)
    const { review_id } = await waiting(person, session)
    await once(asked)
    await person.decide(review_id, { action: 'confirm', tasks: [{ title: 'As the page has it' }] })
    // 2025: the form is withdrawn. 2026: its answer comes too late.
    if (era === '2025') await withdrawn.promise
    else late.resolve(chosen('Approve as proposed'))
    expect((await answer).data).toMatchObject({ next: '1 As the page has it' })
    late.resolve({ action: 'accept', content: {} })
  })

  it('a form that is closed after the decision leads to no other question', async () => {
    const late = Promise.withResolvers<ElicitResult>()
    const { call, asked, person, session } = await connected({
      capabilities: { elicitation: { form: {}, url: {} } },
      answers: ({ mode }) => (mode === 'url' ? { action: 'accept' } : late.promise),
    })
    const answer = call('plan', PLAN)
    const { review_id } = await waiting(person, session)
    await once(asked)
    await person.decide(review_id, { action: 'confirm', tasks: [{ title: 'As the page has it' }] })
    late.resolve({ action: 'cancel' })
    expect((await answer).data).toMatchObject({ next: '1 As the page has it' })
    expect(asked).toMatchObject([{ mode: 'form' }])
  })

  it('[MC8] the task list is a resource', async () => {
    const { client, call, person } = await connected({ review: false })
    await call('plan', PLAN)
    const { resources } = await client.listResources()
    expect(resources).toHaveLength(1)
    const uri = resources[0]?.uri ?? ''
    const read = async (): Promise<{ session_id: string; tasks: { title: string }[] }> => {
      const [content] = (await client.readResource({ uri })).contents
      return JSON.parse(content && 'text' in content ? content.text : '')
    }
    const { session_id, tasks } = await read()
    expect(tasks.map(({ title }) => title)).toEqual(['Look', 'Leap'])
    await person.addTask(session_id, { title: 'By a person' })
    expect((await read()).tasks.map(({ title }) => title)).toContain('By a person')
    const another = { uri: 'runsheet://another/tasks' }
    await expect(client.readResource(another)).rejects.toThrow()
  })

  // Over stdio each test is a process of its own. All that differs is the way in, which the tests above have shown.
  if (transport === 'stdio' && inLongRun(false, true)) return

  it('[MC2] a refusal is an error message for the model, and writes nothing', async () => {
    const { call } = await connected({ review: false })
    const refused = await call('plan', { tasks: 'Look, leap' })
    expect(refused).toMatchObject({ isError: true, data: undefined })
    expect(JSON.parse(refused.text)).toMatchObject({ error: expect.stringContaining('must be an array') })
    expect((await call('tasks')).data).toEqual({ tasks: [], next: null, remaining: 0 })
  })

  it('a declined plan is not written', async () => {
    const { call, person, session } = await connected()
    const answer = call('plan', PLAN)
    const { review_id, session_id } = await waiting(person, session)
    await person.decide(review_id, { action: 'cancel', comment: 'not today' })
    const said = { confirmed: false, cancelled: true, reason: 'user_cancelled', comment: 'not today' }
    expect((await answer).data).toMatchObject(said)
    expect((await person.tasks(session_id)).tasks).toEqual([])
  })

  it('[MC15] a person requests changes in a second form, and the model hears what to change', async () => {
    const { call, asked } = await connected({
      capabilities: FORM,
      answers: afterALook(() =>
        asked.length === 1 ? chosen('Request changes') : { action: 'accept', content: { comment: 'Leap first' } },
      ),
    })
    expect((await call('plan', PLAN)).data).toMatchObject({
      confirmed: false,
      cancelled: true,
      reason: 'changes_requested',
      comment: 'Leap first',
    })
    expect(asked.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^The agent proposes 2 tasks\./),
      expect.stringMatching(/^What should the agent change\?/),
    ])
  })

  it('[MC15] rows can be edited where the client draws them as sent; only their number removes one', async () => {
    const { call, asked } = await connected({
      name: 'claude-code',
      capabilities: FORM,
      answers: afterALook(() =>
        chosen('Approve as shown', { title_1: 'Look around', remove: '2', title_3: 'Rest', comment: 'slowly' }),
      ),
    })
    expect((await call('plan', PLAN)).data).toEqual({
      ids: [1, 2],
      next: '1 Look around',
      remaining: 2,
      comment: 'slowly',
      changes: {
        edited: [{ id: 1, title: 'Look around' }],
        added: [{ id: 2, title: 'Rest' }],
        removed: ['Leap'],
      },
    })
    expect(formIn(asked[0])).toMatchObject({
      title_1: { default: 'Look' },
      title_2: { default: 'Leap', description: 'Done when: landed' },
      title_3: { title: 'Another task (optional)' },
    })
  })

  it('a form that is refused is shown again with the reason and what was typed', async () => {
    const contents: Record<string, string>[] = [
      { title_2: 'x'.repeat(401), remove: '1', comment: 'soon' },
      { title_2: 'Leap high', remove: '1' },
    ]
    const { call, asked } = await connected({
      name: 'claude-code',
      capabilities: FORM,
      answers: afterALook(() => chosen('Approve as shown', contents.shift() ?? {})),
    })
    expect((await call('plan', PLAN)).data).toMatchObject({ ids: [1], next: '1 Leap high' })
    expect(asked[1]?.message).toMatch(/^Task 2: title must be at most 400 characters/)
    expect(formIn(asked[1])).toMatchObject({ remove: { default: '1' }, comment: { default: 'soon' } })
  })

  it('[MC15] decline rejects', async () => {
    const { call } = await connected({ capabilities: FORM, answers: afterALook(() => ({ action: 'decline' })) })
    expect((await call('plan', PLAN)).data).toMatchObject({ confirmed: false, reason: 'user_cancelled' })
  })

  it.each([
    ['cancel', { action: 'cancel' }],
    ['a form without its field', { action: 'accept', content: { title_1: 'Look' } }],
  ] as const)('[MC15] %s decides nothing and is not asked again; the page does', async (_, answer) => {
    const answered = Promise.withResolvers<void>()
    const { call, asked, person, session } = await connected({
      capabilities: FORM,
      answers: afterALook(() => {
        answered.resolve()
        return answer
      }),
    })
    const held = call('plan', PLAN)
    const { review_id } = await waiting(person, session)
    await answered.promise
    await call('tasks')
    await person.decide(review_id, { action: 'confirm', tasks: [{ title: 'By the page' }] })
    expect((await held).data).toMatchObject({ next: '1 By the page' })
    expect(asked).toHaveLength(1)
  })

  it('declining to open the page declines the plan', async () => {
    const { call } = await connected({ capabilities: URL_MODE, answers: afterALook(() => ({ action: 'decline' })) })
    expect((await call('plan', PLAN)).data).toMatchObject({ confirmed: false, reason: 'user_cancelled' })
  })
})

function formIn(params: ElicitRequest['params'] | undefined): Record<string, unknown> {
  return params && 'requestedSchema' in params ? params.requestedSchema.properties : {}
}

/** Resolves when the host has been asked once. `expect.poll` does not work in concurrent tests. */
const once = (asked: readonly unknown[]): Promise<void> =>
  vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 20_000, interval: 20 })

async function opened(asked: readonly ElicitRequest['params'][]): Promise<URL> {
  await once(asked)
  const [params] = asked
  return new URL(params && 'url' in params ? params.url : '')
}
