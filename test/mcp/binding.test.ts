import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Task } from '../../src/core/model/task.ts'
import { type Era, type Host, hostOf, type McpTestServer, overHttp, PLAN, startMcpServer } from '../support/mcp.ts'

let server: McpTestServer

beforeAll(async () => {
  server = await startMcpServer({ host: { review: false } })
})
afterAll(() => server.close())

async function connected(era: Era, headers: Record<string, string> = {}, name?: string): Promise<Host> {
  const host = hostOf({ era, ...(name === undefined ? {} : { name }) })
  onTestFinished(() => host.client.close())
  return overHttp(server, host, { as: 'agent', headers })
}

const tasksOf = async (session: string): Promise<readonly Task[]> => (await server.person.tasks(session)).tasks
const fresh = (): string => `c-${crypto.randomUUID()}`

describe.each(['2025', '2026'] as const)('%s', era => {
  it('[MC3] headers set the conversation and the turn', async () => {
    const session = fresh()
    const { call } = await connected(era, { 'runsheet-session': session, 'runsheet-turn': 't7' })
    await call('plan', PLAN)
    expect(await tasksOf(session)).toMatchObject([{ conversation_turn_id: 't7' }, { conversation_turn_id: 't7' }])
  })

  it('[MC3] _meta overrides the headers, and carries the message ids', async () => {
    const [session, other] = [fresh(), fresh()]
    const { client } = await connected(era, { 'runsheet-session': other })
    await client.callTool({
      name: 'plan',
      arguments: PLAN,
      _meta: {
        'runsheet/session_id': session,
        'runsheet/turn_id': 't1',
        'runsheet/source_user_message_id': 'u1',
        'runsheet/source_assistant_message_id': 'a1',
      },
    })
    const about = { conversation_turn_id: 't1', source_user_message_id: 'u1', source_assistant_message_id: 'a1' }
    expect(await tasksOf(session)).toMatchObject([about, about])
  })

  it("[MC3] the model's arguments cannot choose a conversation or turn", async () => {
    const [session, other] = [fresh(), fresh()]
    const { call } = await connected(era, { 'runsheet-session': session })
    await call('plan', { ...PLAN, session_id: other, turn_id: 't9', 'runsheet/session_id': other })
    expect(await tasksOf(session)).toHaveLength(2)
    await expect(server.person.tasks(other)).rejects.toThrow()
  })

  it('[MC3] without a name from the host, each client has a conversation of its own', async () => {
    const name = `Some Host ${era} ${crypto.randomUUID()}`
    const one = await connected(era, {}, name)
    const another = await connected(era, {}, `${name} 2`)
    await one.call('plan', PLAN)
    expect((await another.call('tasks')).data).toMatchObject({ tasks: [] })
    expect((await one.call('tasks')).data).toMatchObject({ remaining: 2 })
    const { resources } = await one.client.listResources()
    expect(resources[0]?.uri).toMatch(/^runsheet:\/\/mcp-[\w-]+\/tasks$/)
  })

  it('[MC6] each plan is a turn: a new one starts when the last plan is settled', async () => {
    const session = fresh()
    const { call } = await connected(era, { 'runsheet-session': session })
    await call('plan', { tasks: [{ title: 'One' }] })
    await call('plan', { tasks: [{ title: 'Two' }] })
    await call('update', { id: 1, outcome: 'did' })
    await call('update', { id: 2, outcome: 'did' })
    expect((await call('tasks')).data).toMatchObject({ tasks: [{ title: 'One' }, { title: 'Two' }], remaining: 0 })
    await call('plan', { tasks: [{ title: 'Three' }] })
    expect((await call('tasks')).data).toMatchObject({ tasks: [{ title: 'Three' }], remaining: 1 })
    const turns = (await tasksOf(session)).map(({ title, conversation_turn_id }) => [title, conversation_turn_id])
    expect(turns).toEqual([
      ['One', 'plan_1'],
      ['Two', 'plan_1'],
      ['Three', 'plan_2'],
    ])
  })

  it('[MC6] concurrent plans share a turn, and so does one after a reconnect', async () => {
    const session = fresh()
    const { call } = await connected(era, { 'runsheet-session': session })
    await Promise.all(['A', 'B', 'C', 'D'].map(title => call('plan', { tasks: [{ title }] })))
    const again = await connected(era, { 'runsheet-session': session })
    await again.call('plan', { tasks: [{ title: 'E' }] })
    const turns = new Set((await tasksOf(session)).map(({ conversation_turn_id }) => conversation_turn_id))
    expect([...turns]).toEqual(['plan_1'])
  })

  it('[MC6] a stopped plan takes no more calls', async () => {
    const session = fresh()
    const { call } = await connected(era, { 'runsheet-session': session })
    await call('plan', PLAN)
    await server.person.stop(session, 'plan_1')
    const refused = await call('update', { id: 1, outcome: 'did' })
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('a person stopped it') })
  })

  it('a call with an id runs once', async () => {
    const session = fresh()
    const { client } = await connected(era, { 'runsheet-session': session })
    const call = (tasks = PLAN.tasks) =>
      client.callTool({ name: 'plan', arguments: { tasks }, _meta: { 'runsheet/tool_call_id': 'k1' } })
    const first = await call()
    expect((await call()).structuredContent).toEqual(first.structuredContent)
    expect(await tasksOf(session)).toHaveLength(2)
    expect(await call([{ title: 'Other' }])).toMatchObject({ isError: true })
  })

  it('[MC1] the toolset comes from the header, else from the conversation', async () => {
    const session = fresh()
    const { client } = await connected(era, { 'runsheet-session': session, 'runsheet-toolset': 'checklist' })
    const names = (await client.listTools()).tools.map(({ name }) => name)
    expect(names).toEqual(['add_multiple_checklist_items', 'update_checklist_items', 'await_review'])
    await client.callTool({ name: 'add_multiple_checklist_items', arguments: { items: [{ title: 'A' }] } })
    const again = await connected(era, { 'runsheet-session': session })
    expect((await again.client.listTools()).tools.map(({ name }) => name)).toEqual(names)
    // The first call fixed the toolset: only a person may change it.
    const other = await connected(era, { 'runsheet-session': session, 'runsheet-toolset': 'runsheet' })
    expect(await other.call('plan', PLAN)).toMatchObject({
      isError: true,
      text: expect.stringContaining('only a person'),
    })
  })

  it.each([
    { 'runsheet/session_id': 42 },
    { 'runsheet/session_id': null },
    { 'runsheet/turn_id': 'no spaces' },
    { 'runsheet/tool_call_id': '' },
    { 'runsheet/source_user_message_id': 'x'.repeat(201) },
  ])('[MC3] refuses an invalid _meta instead of ignoring it: %j', async _meta => {
    const session = fresh()
    const { client } = await connected(era, { 'runsheet-session': session })
    expect(await client.callTool({ name: 'plan', arguments: PLAN, _meta })).toMatchObject({ isError: true })
    await expect(server.person.tasks(session)).rejects.toThrow()
  })

  it('[MC3] refuses invalid headers', async () => {
    // The 2026 client does not pass on the reason.
    const [id, toolset] = era === '2025' ? ['1 to 128 letters', 'must be one of: manage_todos'] : ['', '']
    await expect(connected(era, { 'runsheet-session': 'bad id!' })).rejects.toThrow(id)
    await expect(connected(era, { 'runsheet-toolset': 'cheklist' })).rejects.toThrow(toolset)
  })

  it('clients with the same request ids get their own answers', async () => {
    const hosts = await Promise.all([fresh(), fresh()].map(session => connected(era, { 'runsheet-session': session })))
    const answers = await Promise.all(
      hosts.flatMap((host, i) => ['a', 'b', 'c'].map(each => host.call('plan', { tasks: [{ title: `${each}${i}` }] }))),
    )
    expect(answers.map(({ isError }) => isError)).toEqual(Array(6).fill(false))
    for (const [i, host] of hosts.entries()) {
      const { tasks } = (await host.call('tasks')).data as { tasks: { title: string }[] }
      expect(tasks.map(({ title }) => title).toSorted()).toEqual([`a${i}`, `b${i}`, `c${i}`])
    }
  })
})
