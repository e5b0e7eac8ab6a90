import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ElicitRequest } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Client as Person } from '../../src/client/client.ts'
import { TOOLSETS, type ToolsetName } from '../../src/domain/policy.ts'
import type { Child } from '../support/children.ts'
import {
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

beforeAll(async () => {
  scratch = scratchFolder()
  data = join(scratch, 'data')
  ;[page, server] = await Promise.all([serveFolder(data), startMcpServer({ waitLimits: { panelMs: 50 } })])
})
afterAll(async () => {
  page.process.kill()
  await Promise.all([page.ended, server.close()])
  rmSync(scratch, { recursive: true })
})

describe.each(WAYS)('the official client over %s, %s', (transport, era) => {
  async function connected(
    options: Omit<HostOptions, 'era'> & { toolset?: ToolsetName; review?: boolean; session?: string } = {},
  ): Promise<Host & { person: Person; session: string }> {
    const { toolset = 'runsheet', review = true, session = `s-${crypto.randomUUID()}`, ...more } = options
    const host = hostOf({ era, ...more })
    onTestFinished(() => host.client.close())
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
        annotations: { openWorldHint: false },
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

  it('[MC2] a refusal is an error message for the model, and writes nothing', async () => {
    const { call } = await connected({ review: false })
    const refused = await call('plan', { tasks: 'Look, leap' })
    expect(refused).toMatchObject({ isError: true, data: undefined })
    expect(JSON.parse(refused.text)).toMatchObject({ error: expect.stringContaining('must be an array') })
    expect((await call('tasks')).data).toEqual({ tasks: [], next: null, remaining: 0 })
  })

  it('[MC14] a plan edited on the page arrives as edited', async () => {
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

  it('[MC14] a declined plan is not written', async () => {
    const { call, person, session } = await connected()
    const answer = call('plan', PLAN)
    const { review_id, session_id } = await waiting(person, session)
    await person.decide(review_id, { action: 'cancel', comment: 'not today' })
    const said = { confirmed: false, cancelled: true, reason: 'user_cancelled', comment: 'not today' }
    expect((await answer).data).toMatchObject(said)
    expect((await person.tasks(session_id)).tasks).toEqual([])
  })

  it('[MC15] a form has numbered rows to edit, clear or add', async () => {
    const { call, asked } = await connected({
      capabilities: FORM,
      answers: () => ({
        action: 'accept',
        content: { title_1: 'Look around', priority_1: 'high', title_2: '', title_3: 'Rest', comment: 'slowly' },
      }),
    })
    const { data: answer } = await call('plan', PLAN)
    expect(asked).toHaveLength(1)
    const properties = formIn(asked[0])
    expect(Object.keys(properties)).toEqual(
      [1, 2, 3, 4].flatMap(i => [`title_${i}`, `priority_${i}`]).concat('comment'),
    )
    expect(properties).toMatchObject({
      title_1: { default: 'Look' },
      title_2: { default: 'Leap', description: 'Done when: landed' },
      title_3: { title: 'Another task (optional)' },
      priority_1: { default: 'medium', enum: ['high', 'medium', 'low'] },
    })
    expect(answer).toEqual({
      ids: [1, 2],
      next: '1 Look around',
      remaining: 2,
      comment: 'slowly',
      changes: {
        edited: [{ id: 1, title: 'Look around', priority: 'high' }],
        added: [{ id: 2, title: 'Rest' }],
        removed: ['Leap'],
      },
    })
  })

  it('[MC15] a row that does not start as to do has a status; a title missing beside its priority was cleared', async () => {
    const { call, asked, person } = await connected({
      toolset: 'task_manager',
      capabilities: FORM,
      answers: () => ({
        action: 'accept',
        content: { title_1: 'Deploy', priority_1: 'medium', status_1: 'todo', priority_2: 'low', title_3: 'Rest' },
      }),
    })
    const { data: answer } = await call('add_task', {
      tasks: [{ title: 'Deploy', status: 'done', tags: ['prod', 'now'] }, { title: 'Tell' }],
    })
    expect(formIn(asked[0])).toMatchObject({
      title_1: { description: 'Tags: prod, now' },
      status_1: { default: 'done', enum: ['todo', 'doing', 'blocked', 'done'] },
    })
    expect(answer).toMatchObject({ tasks: [{ title: 'Deploy', status: 'doing' }, { title: 'Rest' }], created_count: 2 })
    const { tasks } = await person.tasks((answer?.['session_id'] as string) ?? '')
    expect(tasks.map(({ status }) => status)).toEqual(['in_progress', 'pending'])
  })

  it('[MC15] an empty form is not a yes, and an invalid one is shown again with the reason', async () => {
    const long = 'x'.repeat(401)
    const contents: Record<string, string>[] = [
      {},
      { title_1: '', title_2: '' },
      { title_1: '', title_2: 'Leap high', title_3: long, comment: 'soon' },
      { title_1: 'Look' },
    ]
    const { call, asked } = await connected({
      capabilities: FORM,
      answers: () => ({ action: 'accept', content: contents.shift() ?? {} }),
    })
    expect((await call('plan', PLAN)).data).toMatchObject({ ids: [1, 2] })
    expect(asked.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^The agent proposes 2 tasks\./),
      expect.stringMatching(/^The form came back empty\. /),
      expect.stringMatching(/^At least 1 task is needed\./),
      expect.stringMatching(/^Task 3: title must be at most 400 characters/),
    ])
    // The form keeps what was typed.
    expect(formIn(asked[3])).toMatchObject({
      title_1: { default: '' },
      title_2: { default: 'Leap high' },
      comment: { default: 'soon' },
    })
  })

  it.each(['decline', 'cancel'] as const)('[MC16] %s is a no', async action => {
    const { call } = await connected({ capabilities: FORM, answers: () => ({ action }) })
    expect((await call('plan', PLAN)).data).toMatchObject({ confirmed: false, reason: 'user_cancelled' })
  })

  it("[MC19] a client that opens URLs gets the conversation's page with a sign-in code", async () => {
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

  it('[MC19] declining to open the page declines the plan', async () => {
    const { call } = await connected({ capabilities: URL_MODE, answers: () => ({ action: 'decline' }) })
    expect((await call('plan', PLAN)).data).toMatchObject({ confirmed: false, reason: 'user_cancelled' })
  })

  it('[MC20] a decision on the page wins over a later form', async () => {
    const late = Promise.withResolvers<{ action: 'accept'; content: Record<string, string> }>()
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
    await expect.poll(() => asked.length).toBe(1)
    await person.decide(review_id, { action: 'confirm', tasks: [{ title: 'As the page has it' }] })
    // 2025: the form is withdrawn. 2026: its answer comes too late.
    if (era === '2025') await withdrawn.promise
    else late.resolve({ action: 'accept', content: { title_1: 'As the form has it' } })
    expect((await answer).data).toMatchObject({ next: '1 As the page has it' })
    late.resolve({ action: 'accept', content: {} })
  })

  it('[MC8] the task list is a resource with update notifications', async () => {
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
    const updated = Promise.withResolvers<string>()
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.resolve(params.uri))
    if (era === '2025') await client.subscribeResource({ uri })
    else await client.listen({ resourceSubscriptions: [uri] })
    await person.addTask(session_id, { title: 'By a person' })
    expect(await updated.promise).toBe(uri)
    expect((await read()).tasks.map(({ title }) => title)).toContain('By a person')
    const another = { uri: 'runsheet://another/tasks' }
    await expect(client.readResource(another)).rejects.toThrow()
    if (era === '2025') await expect(client.subscribeResource(another)).rejects.toThrow()
  })
})

function formIn(params: ElicitRequest['params'] | undefined): Record<string, unknown> {
  return params && 'requestedSchema' in params ? params.requestedSchema.properties : {}
}

async function opened(asked: readonly ElicitRequest['params'][]): Promise<URL> {
  await expect.poll(() => asked.length).toBe(1)
  const [params] = asked
  return new URL(params && 'url' in params ? params.url : '')
}
