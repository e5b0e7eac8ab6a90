import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { InsistAnswer, ReviewsAnswer, TaskAnswer, TaskView } from '../src/core/views/wire.ts'
import { createRunsheet, openMemoryStore } from '../src/index.ts'
import { type CheckedServer, started } from './support/checked.ts'
import { hostOf, overHttp, startMcpServer } from './support/mcp.ts'
import type { Answer } from './support/provider.ts'
import { startTurns, type TestTurns } from './support/turns.ts'

// A dispute through every way in. The rules themselves: src/core/decide/disputes.test.ts.

const PLAN = { tasks: [{ title: 'Look' }, { title: 'Leap' }] }
const WHY = 'The test wants 3, the task says 4.'
const DISPUTE = { id: 1, status: 'disputed', outcome: WHY }
const FORM =
  'Task 1 needs an outcome to become disputed: say why, and what was tried. Send {"id":1,"status":"disputed","outcome":"…"}'

describe('over HTTP', () => {
  async function disputed(): Promise<{ server: CheckedServer; task: TaskView }> {
    const server = await started({ host: { review: false } })
    await call(server, 'plan', PLAN)
    await call(server, 'update', DISPUTE)
    const [task] = (await server.person.tasks('c1')).tasks
    if (!task) throw new Error('There is no task')
    return { server, task }
  }

  async function call({ agent }: CheckedServer, tool: string, args: unknown): Promise<unknown> {
    const answer = await agent.call('runsheet', tool, { session_id: 'c1', turn_id: 't1', arguments: args })
    return 'result' in answer ? answer.result : answer
  }

  it('[DS1] an agent disputes with a reason, and is refused with the form without one', async () => {
    const server = await started({ host: { review: false } })
    await call(server, 'plan', PLAN)
    expect(await call(server, 'update', { id: 1, status: 'disputed' })).toMatchObject({ error: FORM, remaining: 2 })
    expect(await call(server, 'update', DISPUTE)).toEqual({ next: '2 Leap', remaining: 1 })
    expect(await call(server, 'tasks', {})).toMatchObject({ tasks: [{ id: 1, status: 'disputed' }, { id: 2 }] })
  })

  it('[DS4] what waits lists it, with its conversation, which has the mark', async () => {
    const { server, task } = await disputed()
    const { body } = await server.ask<ReviewsAnswer>('GET', '/api/task-manager/reviews/pending?approvals=true')
    expect(body).toMatchObject({
      reviews: [],
      disputes: [{ session_id: 'c1', task_id: task.id, title: 'Look', reason: WHY, count: 1 }],
      sessions: [{ session_id: 'c1', mark: 'waiting' }],
    })
  })

  it('[DS5] only a person insists; the agent hears it with its next answer, once', async () => {
    const { server, task } = await disputed()
    const path = `/api/sessions/c1/tasks/${task.id}/insist`
    expect((await server.refused(403, 'POST', path, { as: 'agent', body: {} })).code).toBe('persons_only')
    const made = await server.ask<InsistAnswer>('POST', path, { body: { comment: 'Use 4.' } })
    expect([made.status, made.headers.get('etag')]).toEqual([200, `"${made.body.task.version}"`])
    expect(made.body).toMatchObject({
      task: { status: 'pending', dispute: { ended: { how: 'insisted', comment: 'Use 4.' } } },
    })
    expect((await server.refused(409, 'POST', path, { body: {} })).code).toBe('not_disputed')
    expect(await call(server, 'tasks', {})).toMatchObject({ disputes: ['1 Look: a person insists on it: Use 4.'] })
    expect(await call(server, 'tasks', {})).not.toHaveProperty('disputes')
  })

  it('[DS5] the other answers are edits of the task', async () => {
    const { server, task } = await disputed()
    const { body } = await server.ask<TaskAnswer>('PATCH', `/api/sessions/c1/tasks/${task.id}`, {
      body: { criteria: 'It is 3' },
      headers: { 'if-match': `"${task.version}"` },
    })
    expect(body.task).toMatchObject({ status: 'pending', dispute: { ended: { how: 'changed' } } })
    expect(await call(server, 'tasks', {})).toMatchObject({
      disputes: ['1 Look: a person changed it after the dispute'],
    })
  })

  it('the history tells it, with the person who answered', async () => {
    const { server, task } = await disputed()
    await server.person.insist('c1', task.id, 'Use 4.')
    const { events } = await server.person.timeline('c1', task.id)
    expect(events.flatMap(({ data }) => ('from' in data && 'dispute' in data.from ? [data] : []))).toMatchObject([
      { by: 'model', task: { dispute: { reason: WHY } } },
      { by: 'person', task: { dispute: { ended: { how: 'insisted' } } }, origin: { actor: 'person' } },
    ])
  })
})

it.each(['2025', '2026'] as const)(
  '[DS1][DS4] over MCP (%s), the agent is told where the user can answer',
  async era => {
    const shown: string[] = []
    const server = await startMcpServer({ host: { review: false }, openBrowser: url => void shown.push(url) })
    onTestFinished(server.close)
    const host = hostOf({ era })
    onTestFinished(() => host.client.close())
    const { call, client } = await overHttp(server, host, { as: 'agent', headers: { 'runsheet-session': 'c1' } })
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'update')?.description).toContain(
      'If a check contradicts the task or cannot pass, dispute it; never work around it.',
    )
    await call('plan', PLAN)
    expect((await call('update', { id: 1, status: 'disputed' })).text).toContain(JSON.stringify(FORM))
    const message = `The user was told, and can answer at ${server.url.href}?chat=c1. Go on with the other tasks.`
    expect((await call('update', DISPUTE)).data).toEqual({ next: '2 Leap', remaining: 1, message })
    await call('update', { ...DISPUTE, id: 2 })
    // Over HTTP each request of 2026 is a connection.
    expect(shown).toEqual(Array.from({ length: era === '2025' ? 1 : 2 }, () => `${server.url.href}?chat=c1`))
  },
)

describe('in a program', () => {
  it('[DS5] insists on behalf of a person', async () => {
    const runsheet = createRunsheet({ store: openMemoryStore(), policy: { review: false } })
    onTestFinished(() => runsheet.close())
    const conversation = runsheet.conversation('c1')
    const turn = conversation.turn('t1')
    await turn.call('plan', PLAN)
    await turn.call('update', DISPUTE)
    const finished = await turn.finish()
    expect(finished).toMatchObject({ status: 'incomplete', counts: { disputed: 1, blocked: 0 } })
    expect(await conversation.insist(1, { comment: 'Use 4.' })).toMatchObject({
      status: 'pending',
      dispute: { count: 1, by: null, ended: { how: 'insisted', comment: 'Use 4.' } },
    })
    await expect(conversation.insist(2)).rejects.toMatchObject({ code: 'not_disputed' })
  })
})

describe('in a turn of ours', () => {
  let at: TestTurns | undefined
  afterEach(() => at?.close())
  const call = (tool: string, args: unknown): Answer => ({ calls: [{ tool, args }] })

  it('[DS3][DS5] goes on with the other steps, ends as incomplete, and goes on once a person insists', async () => {
    const script: readonly Answer[] = [
      call('plan', PLAN),
      call('update', DISPUTE),
      call('update', { id: 2, outcome: 'Leapt.' }),
      'That was it.',
      call('update', { id: 1, outcome: 'Looked after all.' }),
      'Now it is.',
    ]
    at = await startTurns({ answers: (_, count) => script[count] ?? 'No more.' })
    const reader = await at.chat({ toolset: 'runsheet', review: false, assessor: false, gate: true })
    const [finished] = reader.of('turn_finished')
    expect(finished?.data).toMatchObject({
      status: 'incomplete',
      because: 'answered',
      counts: { completed: 1, disputed: 1 },
    })
    expect(reader.of('gate_followed')).toEqual([])
    const said = reader.of('message_added').at(-1)?.data.text
    expect(said).toContain('Waits for you: 1 dispute.')
    expect(said).toContain(`- Look (disputed: ${WHY.replace(/\.$/, '')}`)
    const [task] = await at.tasks()
    const { turn_id } = await at.person.insist('c1', task?.id ?? '', 'Use 4.')
    await expect
      .poll(() => at?.statuses())
      .toEqual([
        ['Look', 'completed'],
        ['Leap', 'completed'],
      ])
    const log = await at.log()
    const [continued] = log.flatMap(({ type, data }) =>
      type === 'turn_started' && data.turn_id === turn_id ? data : [],
    )
    expect(continued).toMatchObject({ continue_turn_id: 't1', message: 'Do step 1 as it is asked: Look\nUse 4.' })
    const digest = at.provider.asked
      .at(-2)
      ?.request.messages.map(({ content }) => content)
      .join('\n')
    expect(digest).toContain('(open again: a person insists on it: Use 4.)')
  })
})
