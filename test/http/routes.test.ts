import { describe, expect, it, onTestFinished } from 'vitest'
import type { Command } from '../../src/core/model/command.ts'
import type { StoredEvent } from '../../src/core/model/event.ts'
import type { Policy, ToolsetName } from '../../src/core/model/policy.ts'
import type { Task } from '../../src/core/model/task.ts'
import type { Template } from '../../src/core/model/template.ts'
import type {
  PolicyAnswer,
  SessionAnswer,
  SessionsAnswer,
  TaskAnswer,
  TasksAnswer,
  ToolAnswer,
  ToolsetAnswer,
  ToolsetsAnswer,
  TurnAnswer,
} from '../../src/core/views/wire.ts'
import { StoreError, openDoor } from '../../src/engine/door/door.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { StoreErrorCode } from '../../src/store/store-error.ts'
import type { Store } from '../../src/store/store.ts'
import { openAiTools, promptFor } from '../../src/engine/toolsets/guidance.ts'
import { toolsets } from '../../src/engine/toolsets/index.ts'
import { started, storeWith, type Answered, type CheckedServer } from '../support/checked.ts'
import { CREATING, Table, resultOf } from '../support/reviews.ts'
import { placeFor } from '../support/stores.ts'

const STORES = ['memory', 'sqlite', 'postgres'] as const
/** Those with search and templates. */
const FULL_STORES = ['sqlite', 'postgres'] as const
const TEMPLATES = '/api/task-manager/templates'

/** A model's call from outside. */
function call(
  server: CheckedServer,
  [toolset, tool]: readonly [ToolsetName, string],
  input: unknown,
  more: { session_id?: string; turn_id?: string; tool_call_id?: string } = {},
): Promise<Answered<ToolAnswer>> {
  const body = { session_id: 'c1', turn_id: 't1', arguments: input, ...more }
  return server.ask('POST', `/api/toolsets/${toolset}/tools/${tool}`, { as: 'agent', body })
}

/** A conversation whose list holds these. */
async function withTasks(server: CheckedServer, ...titles: readonly string[]): Promise<readonly Task[]> {
  await call(server, ['checklist', 'add_multiple_checklist_items'], { items: titles.map(title => ({ title })) })
  return (await server.person.tasks('c1')).tasks
}

async function startTurn(server: CheckedServer, turn_id = 'run-1', session = 'c1'): Promise<void> {
  const message = { message_id: 'm1', message: 'Do it', model: 'none' }
  await server.door.run({ tenant: 'local', conversation: session }, { type: 'start_turn', turn_id, ...message })
}

const HERE = { tenant: 'local', conversation: 'c1' } as const

const message = (message_id: string, text: string) => ({ message_id, role: 'assistant', text }) as const

const withPart = <T extends object>(whole: T, parts: Partial<T>): T =>
  new Proxy(whole, {
    get: (target, name) => {
      const part = name as keyof T
      if (Object.hasOwn(parts, part)) return parts[part]
      const value: unknown = target[part]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

/** A server in which something is committed just before a query of events is answered, once. */
async function interrupted(): Promise<{
  server: CheckedServer
  meanwhile: (...commands: readonly Command[]) => void
}> {
  const memory = openMemoryStore()
  let waiting: readonly Command[] = []
  const asked = memory.queries.events.bind(memory.queries) as (...args: unknown[]) => Promise<unknown>
  const interrupting = async (...args: unknown[]): Promise<unknown> => {
    const commands = waiting
    waiting = []
    if (commands.length > 0) await server.door.run(HERE, ...commands)
    return asked(...args)
  }
  const queries = withPart(memory.queries, { events: interrupting as typeof memory.queries.events })
  const server = await started({ door: openDoor({ store: storeWith(memory, { queries }) }) })
  return {
    server,
    meanwhile: (...commands) => {
      waiting = commands
    },
  }
}

/** Everything behind a first page, page by page. */
async function pages<T extends { next_cursor: string | null }>(server: CheckedServer, path: string): Promise<T[]> {
  const all: T[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const next: Answered<T> = await server.ask<T>('GET', cursor === '' ? path : `${path}&cursor=${cursor}`)
    expect(next.status).toBe(200)
    all.push(next.body)
    cursor = next.body.next_cursor
  }
  return all
}

describe('an unknown conversation', () => {
  it.each(['', '/events', '/tasks', '/timeline', '/tasks?turn_id=t1', '/timeline?task_id=x'])(
    'is 404 on reading: GET /api/sessions/none%s',
    async path => {
      const server = await started()
      expect((await server.refused(404, 'GET', `/api/sessions/none${path}`)).code).toBe('session_not_found')
      expect((await server.person.sessions()).sessions).toEqual([])
    },
  )

  it('an unknown turn or task is 404', async () => {
    const server = await started()
    await withTasks(server, 'A')
    expect((await server.refused(404, 'GET', '/api/sessions/c1/tasks?turn_id=t9')).code).toBe('turn_not_found')
    expect((await server.refused(404, 'GET', '/api/sessions/c1/timeline?task_id=x')).code).toBe('task_not_found')
    expect((await server.refused(404, 'POST', '/api/sessions/c1/turns/t9/stop')).code).toBe('turn_not_found')
    expect((await server.refused(404, 'POST', '/api/sessions/none/turns/t9/stop')).code).toBe('turn_not_found')
    const headers = { 'if-match': '1' }
    for (const session of ['c1', 'none']) {
      const path = `/api/sessions/${session}/tasks/x`
      expect((await server.refused(404, 'PATCH', path, { headers, body: {} })).code).toBe('task_not_found')
      expect((await server.refused(404, 'DELETE', path, { headers })).code).toBe('task_not_found')
    }
  })

  it('is made by a tool call, with its turn, and by a policy', async () => {
    const server = await started()
    expect((await call(server, ['checklist', 'update_checklist_items'], { items: [{ id: 'x' }] })).status).toBe(200)
    await server.ask('PUT', '/api/sessions/c2/policy', { body: {} })
    const one = await server.ask<SessionAnswer>('GET', '/api/sessions/c1')
    expect(one.body).toMatchObject({ policy: { toolset: 'checklist' }, turns: [{ turn_id: 't1', status: 'open' }] })
    expect((await server.ask<SessionAnswer>('GET', '/api/sessions/c2')).body).toMatchObject({ turns: [], seq: 1 })
  })
})

describe('sessions', () => {
  it.each(STORES)('come by the page, newest first (%s)', async store => {
    const server = await started({ store })
    const names = Array.from({ length: 7 }, (_, index) => `c${index}`)
    for (const name of names) await server.person.setPolicy(name, {})
    const all = (await server.ask<SessionsAnswer>('GET', '/api/sessions')).body
    expect(all.next_cursor).toBeNull()
    const ids = all.sessions.map(({ session_id }) => session_id)
    expect(ids.toSorted()).toEqual(names)
    const instants = all.sessions.map(({ created_at }) => created_at)
    expect(instants).toEqual(instants.toSorted().toReversed())
    const paged = await pages<SessionsAnswer>(server, '/api/sessions?limit=3')
    expect(paged.map(({ sessions }) => sessions.length)).toEqual([3, 3, 1])
    expect(paged.flatMap(({ sessions }) => sessions)).toEqual(all.sessions)
  })

  it.each(FULL_STORES)('with q they are those with these words in their title (%s)', async store => {
    const server = await started({ store })
    for (const [session_id, title] of [
      ['c1', 'Plan the ÜBERGABE'],
      ['c2', 'Buy 100% juice'],
      ['c3', 'übergabe, once more'],
    ] as const) {
      await server.agent.call('task_list', 'AddTask', { session_id, turn_id: 't1', arguments: { title } })
    }
    const found = async (q: string): Promise<string[]> =>
      (await server.person.sessions({ q })).sessions.map(({ session_id }) => session_id)
    expect(await found('  Übergabe ')).toEqual(['c3', 'c1'])
    expect(await found('100%')).toEqual(['c2'])
    expect(await found('nothing like it')).toEqual([])
    const paged = await pages<SessionsAnswer>(server, `/api/sessions?limit=1&q=${encodeURIComponent('übergabe')}`)
    expect(paged.map(({ sessions }) => sessions.map(({ session_id }) => session_id))).toEqual([['c3'], ['c1']])
    for (const q of ['', '%20', 'x'.repeat(401)]) {
      const error = await server.refused(400, 'GET', `/api/sessions?q=${q}`)
      expect(error).toMatchObject({ code: 'invalid_request', field: 'q' })
    }
  })

  it.each(['limit=0', 'limit=201', 'limit=x', 'limit=1.5', 'limit='])('%s is 400', async query => {
    const server = await started()
    const error = await server.refused(400, 'GET', `/api/sessions?${query}`)
    expect(error).toMatchObject({ code: 'invalid_request', field: 'limit' })
  })

  it.each(FULL_STORES)('a cursor that no page gave out is 400 (%s)', async store => {
    const server = await started({ store })
    await withTasks(server, 'A')
    for (const path of ['/api/sessions?', '/api/sessions/c1/tasks?', '/api/tasks?q=a&']) {
      for (const cursor of ['x', 'W10', 'WzEsMiwzLDQsNV0', 'W251bGwsbnVsbF0']) {
        const error = await server.refused(400, 'GET', `${path}cursor=${cursor}`)
        expect(error).toMatchObject({ code: 'invalid_request', field: 'cursor' })
      }
    }
  })

  it('one of them is everything that a page shows of it, as of its seq', async () => {
    const server = await started()
    await withTasks(server, 'A', 'B')
    const { status, body } = await server.ask<SessionAnswer>('GET', '/api/sessions/c1', { as: 'agent' })
    expect(status).toBe(200)
    const state = await server.door.read({ tenant: 'local', conversation: 'c1' })
    expect(body.seq).toBe(state.seq)
    expect(body.session).toMatchObject({ session_id: 'c1', title: 'A', seq: state.seq })
    expect(body.policy).toEqual(state.policy)
    expect(body.tasks).toEqual((await server.person.tasks('c1')).tasks)
    expect(body.turns).toMatchObject([{ turn_id: 't1', status: 'open', stop_requested: false, parked: false }])
    expect([body.messages, body.reviews]).toEqual([[], []])
    expect((await server.person.sessions()).sessions).toEqual([body.session])
  })

  it('shows messages, and which edits the agent does not know yet', async () => {
    const server = await started()
    const [task] = await withTasks(server, 'A')
    const { seq } = await server.person.changeTask('c1', task?.id ?? '', task?.version ?? 0, { details: 'mine' })
    await startTurn(server)
    const { body } = await server.ask<SessionAnswer>('GET', '/api/sessions/c1')
    expect(body.messages).toMatchObject([{ message_id: 'm1', role: 'user', text: 'Do it', turn_id: 'run-1' }])
    const { conversation } = await server.person.snapshot('c1')
    expect(conversation.edits).toEqual({ [task?.id ?? '']: { details: seq } })
    expect(conversation.answered_seq).toBeLessThan(seq)
    expect(body.turns.map(({ turn_id, status }) => [turn_id, status])).toEqual([
      ['t1', 'open'],
      ['run-1', 'running'],
    ])
  })

  it('[HT9] what is committed while a conversation is read is not in the answer: it is beyond its seq', async () => {
    const { server, meanwhile } = await interrupted()
    await withTasks(server, 'One')
    await startTurn(server)
    const { seq } = await server.door.read(HERE)
    meanwhile(
      { type: 'record', turn_id: 'run-1', fact: { type: 'message_added', data: message('m2', 'Later') } },
      { type: 'edit_tasks', by: 'person', create: [{ id: server.door.newId(), title: 'Two' }] },
    )
    const { body } = await server.ask<SessionAnswer>('GET', '/api/sessions/c1')
    expect([body.seq, body.messages.map(({ text }) => text)]).toEqual([seq, ['Do it']])
    expect(body.tasks.map(({ title }) => title)).toEqual(['One'])
    const again = await server.ask<SessionAnswer>('GET', '/api/sessions/c1')
    expect(again.body.messages.map(({ text }) => text)).toEqual(['Do it', 'Later'])
  })

  it('[HT9] what is committed meanwhile is not in the timeline either', async () => {
    const { server, meanwhile } = await interrupted()
    const [task] = await withTasks(server, 'One')
    const fields = { title: 'Uno' }
    for (const query of ['', `?task_id=${task?.id}`]) {
      const { seq } = await server.door.read(HERE)
      meanwhile({ type: 'edit_tasks', by: 'person', change: [{ task: task?.id ?? '', fields }] })
      fields.title += '!'
      type Timeline = { events: StoredEvent[]; seq: number }
      const { body } = await server.ask<Timeline>('GET', `/api/sessions/c1/timeline${query}`)
      expect(body.seq).toBe(seq)
      expect(body.events.length).toBeGreaterThan(0)
      expect(Math.max(...body.events.map(event => event.seq))).toBeLessThanOrEqual(seq)
      expect((await server.door.read(HERE)).seq).toBe(seq + 1)
    }
  })

  it('[HT9] every read of a conversation carries its seq', async () => {
    const server = await started()
    await withTasks(server, 'A')
    const { seq } = await server.door.read({ tenant: 'local', conversation: 'c1' })
    for (const path of ['', '/tasks', '/tasks?status=blocked', '/timeline']) {
      expect((await server.ask<{ seq: number }>('GET', `/api/sessions/c1${path}`)).body.seq).toBe(seq)
    }
  })
})

describe('the policy', () => {
  it('with another toolset its waits change as well, unless they are named', async () => {
    const server = await started()
    const put = async (body: object): Promise<Policy> =>
      (await server.ask<PolicyAnswer>('PUT', '/api/sessions/c1/policy', { body })).body.policy
    const soon = { review_timeout_ms: 120_000, panel_grace_ms: 15_000 }
    const never = { review_timeout_ms: null, panel_grace_ms: null }
    expect(await put({ toolset: 'task_manager' })).toMatchObject(soon)
    expect(await put({ toolset: 'runsheet' })).toMatchObject(never)
    expect(await put({ toolset: 'task_manager', ...never })).toMatchObject(never)
    expect(await put({ toolset: 'task_manager' })).toMatchObject(never)
    expect(await put({ toolset: 'checklist' })).toMatchObject(never)
    expect(await put({ toolset: 'task_manager' })).toMatchObject(soon)
  })

  it('takes what is named; the rest stays', async () => {
    const server = await started({ host: { gate: false, max_steps: 7 } })
    const put = async (body: object): Promise<Policy> => {
      const answer = await server.ask<PolicyAnswer>('PUT', '/api/sessions/c1/policy', { body })
      expect(answer.status).toBe(200)
      return answer.body.policy
    }
    const first = await put({})
    expect(first).toMatchObject({ toolset: 'runsheet', review: true, assessor: true, gate: false, max_steps: 7 })
    expect(await put({ review: false, history_limit: 3 })).toEqual({ ...first, review: false, history_limit: 3 })
    const all: Policy = {
      toolset: 'turn_todos',
      review: true,
      assessor: true,
      gate: true,
      review_timeout_ms: 1,
      panel_grace_ms: 0,
      max_steps: 1,
      max_steps_with_plan: 2,
      max_advances: 0,
      history_limit: 0,
    }
    expect(await put(all)).toEqual(all)
    const { seq } = await server.person.setPolicy('c1', all)
    expect((await server.person.setPolicy('c1', all)).seq).toBe(seq)
    expect((await server.person.session('c1')).policy).toEqual(all)
  })

  it.each([
    ['toolset', 'todo'],
    ['review', 'yes'],
    ['panel_grace_ms', -1],
    ['max_steps', 0],
    ['max_steps_with_plan', 1_001],
    ['max_advances', 1.5],
    ['history_limit', null],
    ['token_budget', 1],
  ])('[HT6] %s of %j is 422', async (field, value) => {
    const server = await started()
    const error = await server.refused(422, 'PUT', '/api/sessions/c1/policy', { body: { [field]: value } })
    expect(error).toMatchObject({ code: 'invalid_field', field })
    await server.refused(404, 'GET', '/api/sessions/c1')
  })

  it('manage_todos without the assessor is 400 assessor_required', async () => {
    const server = await started()
    const body = { toolset: 'manage_todos', assessor: false }
    expect((await server.refused(400, 'PUT', '/api/sessions/c1/policy', { body })).code).toBe('assessor_required')
    await server.person.setPolicy('c1', { toolset: 'manage_todos' })
    const off = await server.refused(400, 'PUT', '/api/sessions/c1/policy', { body: { assessor: false } })
    expect(off.code).toBe('assessor_required')
  })

  it('is set between turns: while one runs it is 409 turn_running', async () => {
    const server = await started()
    await startTurn(server)
    const body = { review: false }
    expect((await server.refused(409, 'PUT', '/api/sessions/c1/policy', { body })).code).toBe('turn_running')
    const usage = { input_tokens: 0, output_tokens: 0 }
    await server.door.run(
      { tenant: 'local', conversation: 'c1' },
      { type: 'finish_turn', turn_id: 'run-1', because: 'answered', steps: 1, usage },
    )
    expect((await server.ask('PUT', '/api/sessions/c1/policy', { body })).status).toBe(200)
  })

  it('an agent may not set it, nor use another toolset', async () => {
    const server = await started()
    await withTasks(server, 'A')
    const as = 'agent'
    expect((await server.refused(403, 'PUT', '/api/sessions/c1/policy', { as, body: {} })).code).toBe('persons_only')
    const body = { session_id: 'c1', turn_id: 't1', arguments: {} }
    const other = await server.refused(403, 'POST', '/api/toolsets/runsheet/tools/tasks', { as, body })
    expect(other.code).toBe('persons_only')
    expect((await server.person.session('c1')).policy?.toolset).toBe('checklist')
  })
})

describe('tasks', () => {
  it.each(STORES)('come in list order, by turn, by status and by the page (%s)', async store => {
    const server = await started({ store })
    const [first] = await withTasks(server, 'A', 'B', 'C')
    await server.person.changeTask('c1', first?.id ?? '', first?.version ?? 0, { status: 'in_progress' })
    const second = { turn_id: 't2' }
    await call(
      server,
      ['checklist', 'add_multiple_checklist_items'],
      { items: [{ title: 'D', isChecked: true }] },
      second,
    )
    const of = async (query: string): Promise<string[]> =>
      (await server.ask<TasksAnswer>('GET', `/api/sessions/c1/tasks?${query}`, { as: 'agent' })).body.tasks.map(
        ({ title }) => title,
      )
    expect(await of('')).toEqual(['A', 'B', 'C', 'D'])
    expect(await of('turn_id=t1')).toEqual(['A', 'B', 'C'])
    // A checklist is one plan: the second turn worked from all of it.
    expect(await of('turn_id=t2')).toEqual(['A', 'B', 'C', 'D'])
    expect(await of('status=pending')).toEqual(['B', 'C'])
    expect(await of('status=in_progress')).toEqual(['A'])
    expect(await of('status=completed&turn_id=t1')).toEqual([])
    expect(await of('status=completed&turn_id=t2')).toEqual(['D'])
    const [, , , d] = (await server.person.tasks('c1')).tasks
    await server.person.changeTask('c1', d?.id ?? '', d?.version ?? 0, { position: 1 })
    expect(await of('limit=200')).toEqual(['D', 'A', 'B', 'C'])
    const paged = await pages<TasksAnswer>(server, '/api/sessions/c1/tasks?limit=3')
    expect(paged.map(({ tasks }) => tasks.map(({ title }) => title))).toEqual([['D', 'A', 'B'], ['C']])
    const filtered = await pages<TasksAnswer>(server, '/api/sessions/c1/tasks?turn_id=t1&limit=2')
    expect(filtered.map(({ tasks }) => tasks.length)).toEqual([2, 1])
  })

  it('those of a turn that goes on with a plan are the whole plan', async () => {
    const server = await started()
    const adds = (items: readonly object[], turn_id: string) =>
      call(server, ['task_manager', 'add_task'], { tasks: items }, { turn_id })
    await server.ask('PUT', '/api/sessions/c1/policy', { body: { toolset: 'task_manager', review: false } })
    await adds([{ title: 'A' }, { title: 'B' }], 't1')
    const [a] = (await server.person.tasks('c1')).tasks
    await call(server, ['task_manager', 'complete_task'], { id: a?.id, outcome: 'done' }, { turn_id: 't1' })
    const [, b] = (await server.person.tasks('c1')).tasks
    await call(server, ['task_manager', 'complete_task'], { id: b?.id, outcome: 'done' }, { turn_id: 't2' })
    await adds([{ title: 'C' }], 't3')
    const of = async (query: string): Promise<string[]> =>
      (await server.ask<TasksAnswer>('GET', `/api/sessions/c1/tasks?${query}`)).body.tasks.map(({ title }) => title)
    expect(await of('turn_id=t1')).toEqual(['A', 'B'])
    expect(await of('turn_id=t2')).toEqual(['A', 'B'])
    expect(await of('turn_id=t3')).toEqual(['C'])
  })

  it('an unknown status or an invalid id is 400', async () => {
    const server = await started()
    await withTasks(server, 'A')
    const status = await server.refused(400, 'GET', '/api/sessions/c1/tasks?status=done')
    expect(status).toMatchObject({ code: 'invalid_request', field: 'status' })
    const turn = await server.refused(400, 'GET', '/api/sessions/c1/tasks?turn_id=a.b')
    expect(turn).toMatchObject({ code: 'invalid_id', field: 'turn_id' })
  })

  it.each(FULL_STORES)(
    'are found by title, details and outcome in all conversations, newest first (%s)',
    async store => {
      const server = await started({ store })
      await withTasks(server, 'Buy BREAD', 'Rest')
      await call(server, ['task_list', 'AddTask'], { title: 'x', description: 'rye bread' }, { session_id: 'c2' })
      const { task } = await server.person.addTask('c1', { title: '100% sure' })
      await server.person.changeTask('c1', task.id, task.version, { status: 'completed', outcome: 'no bread_left' })
      const found = async (q: string, more = ''): Promise<string[]> => {
        const path = `/api/tasks?q=${encodeURIComponent(q)}${more}`
        return (await server.ask<TasksAnswer>('GET', path, { as: 'agent' })).body.tasks.map(({ title }) => title)
      }
      expect(new Set(await found('bread'))).toEqual(new Set(['100% sure', 'x', 'Buy BREAD']))
      const made = (await server.person.search('bread')).tasks.map(({ created_at }) => created_at)
      expect(made).toEqual(made.toSorted().toReversed())
      expect(await found('bread left')).toEqual(['100% sure'])
      expect(await found('%')).toEqual([])
      expect(await found('nowhere')).toEqual([])
      const paged = await pages<TasksAnswer>(server, '/api/tasks?q=bread&limit=2')
      expect(paged.map(({ tasks }) => tasks.length)).toEqual([2, 1])
      const { version } = (await server.person.tasks('c1', { status: 'completed' })).tasks[0] ?? task
      await server.person.removeTask('c1', task.id, version)
      expect(await found('left')).toEqual([])
    },
  )

  it.each(['', '?q=', `?q=${'x'.repeat(401)}`, '?q=a%0Ab', '?q=a%00'])(
    'a search for nothing is 400: %s',
    async query => {
      const server = await started()
      expect(await server.refused(400, 'GET', `/api/tasks${query}`)).toMatchObject({
        code: 'invalid_request',
        field: 'q',
      })
    },
  )
})

describe('a search', () => {
  it.each(FULL_STORES)('finds conversations, tasks and messages, best first (%s)', async store => {
    const server = await started({ store })
    await withTasks(server, 'Buy BREAD', 'Rest')
    await server.door.run(HERE, {
      type: 'record',
      turn_id: 't1',
      fact: { type: 'message_added', data: message('m9', 'The bread <b>is</b> rye.') },
    })
    const { results, indexing } = await server.person.find('bread')
    expect(indexing).toBe(false)
    expect(results.map(({ kind }) => kind)).toEqual(['conversation', 'task', 'message'])
    expect(results[2]).toMatchObject({
      message_id: 'm9',
      excerpt: [{ text: 'The ' }, { text: 'bread', match: true }, { text: ' <b>is</b> rye.' }],
    })
    expect((await server.person.find('bread', { kind: 'task', limit: 1 })).results).toHaveLength(1)
    expect((await server.person.find('%')).results).toEqual([])
    expect((await server.person.sessions({ q: 'bread' })).sessions).toHaveLength(1)
    expect((await server.person.sessions({ q: 'rye' })).sessions).toEqual([])
  })

  it('is open to an agent, who may read the same', async () => {
    const server = await started({ store: 'sqlite' })
    await withTasks(server, 'Buy bread')
    const { status, body } = await server.ask('GET', '/api/search?q=bread', { as: 'agent' })
    expect(status).toBe(200)
    expect(body).toEqual(await server.person.find('bread'))
  })

  it.each(['', '?q=', `?q=${'x'.repeat(401)}`, '?q=a%0Ab', '?q=a&kind=log', '?q=a&limit=51', '?q=a&limit=0'])(
    'is refused without a query, or with one out of bounds: %s',
    async query => {
      const server = await started()
      expect((await server.refused(400, 'GET', `/api/search${query}`)).code).toBe('invalid_request')
    },
  )

  it.each(FULL_STORES)('a cursor of nowhere is accepted, one of another list refused (%s)', async store => {
    const server = await started({ store })
    const cursors =
      store === 'postgres'
        ? ['["task",1e400,"x",-1.5]', '["task",-1e308,"",1e99]']
        : ['["task",1e400]', '["task",-1.5]']
    for (const cursor of cursors) {
      const path = `/api/tasks?q=x&cursor=${Buffer.from(cursor).toString('base64url')}`
      expect((await server.ask('GET', path)).status).toBe(200)
    }
    await server.refused(400, 'GET', `/api/tasks?q=x&cursor=${Buffer.from('["a","b"]').toString('base64url')}`)
  })
})

describe('a person adds a task', () => {
  const PATH = '/api/sessions/c1/tasks'

  it('with everything that may be said of it; it joins the latest turn', async () => {
    const server = await started()
    await withTasks(server, 'A', 'B')
    const body = {
      title: ' Mine ',
      details: 'd',
      criteria: 'c',
      priority: 'high',
      tags: ['x'],
      status: 'completed',
      outcome: 'o',
      position: 1,
    }
    const answer = await server.ask<TaskAnswer>('POST', PATH, { body })
    expect(answer.status).toBe(201)
    const { task, seq } = answer.body
    const { position: _, ...said } = body
    expect(task).toMatchObject({
      ...said,
      title: 'Mine',
      number: 3,
      version: 1,
      created_by: 'user',
      judged_by: 'person',
      conversation_turn_id: 't1',
    })
    expect(answer.headers.get('etag')).toBe('"1"')
    expect(seq).toBe((await server.person.tasks('c1')).seq)
    expect((await server.person.tasks('c1')).tasks.map(({ title }) => title)).toEqual(['Mine', 'A', 'B'])
  })

  it('with a title only it has the defaults', async () => {
    const server = await started()
    await withTasks(server, 'A')
    const { task } = (await server.ask<TaskAnswer>('POST', PATH, { body: { title: 'Mine' } })).body
    expect(task).toMatchObject({ details: '', criteria: '', priority: 'medium', tags: [], status: 'pending' })
  })

  it('without a turn to join it is 409 no_turn', async () => {
    const server = await started()
    expect((await server.refused(409, 'POST', PATH, { body: { title: 'x' } })).code).toBe('no_turn')
    await server.person.setPolicy('c1', {})
    expect((await server.refused(409, 'POST', PATH, { body: { title: 'x' } })).code).toBe('no_turn')
  })

  it('while a turn runs it joins that one', async () => {
    const server = await started()
    await withTasks(server, 'A')
    await startTurn(server)
    const { task } = (await server.ask<TaskAnswer>('POST', PATH, { body: { title: 'x' } })).body
    expect(task).toMatchObject({ conversation_turn_id: 'run-1', status: 'pending' })
  })

  it.each([
    ['title', {}],
    ['title', { title: ' ' }],
    ['title', { title: 'x'.repeat(401) }],
    ['details', { title: 'x', details: 'x'.repeat(8_001) }],
    ['priority', { title: 'x', priority: 'urgent' }],
    ['tags', { title: 'x', tags: ['x'.repeat(65)] }],
    ['status', { title: 'x', status: 'cancelled' }],
    ['status', { title: 'x', status: 'todo' }],
    ['position', { title: 'x', position: '1' }],
    ['position', { title: 'x', position: 1e10 }],
    ['number', { title: 'x', number: 9 }],
    ['body', 'x'],
  ])('[HT6] what is wrong with %s is 422, and of no row', async (field, body) => {
    const server = await started()
    await withTasks(server, 'A')
    const error = await server.refused(422, 'POST', PATH, { body })
    expect(error).toMatchObject({ code: 'invalid_field', field })
    expect(error).not.toHaveProperty('row')
    expect(error.message).not.toContain('Element')
    expect((await server.person.tasks('c1')).tasks).toHaveLength(1)
  })

  it.each(['memory', 'sqlite'] as const)(
    'an Idempotency-Key makes a repetition answer the same; with another body it is 409 (%s)',
    async store => {
      const server = await started({ store })
      await withTasks(server, 'A')
      const headers = { 'idempotency-key': 'once' }
      const answers = await Promise.all(
        Array.from({ length: 5 }, (_, index) => {
          const body = index % 2 === 0 ? { title: 'Mine', details: 'd' } : { details: 'd', title: 'Mine' }
          return server.ask<TaskAnswer>('POST', PATH, { headers, body })
        }),
      )
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
      expect(answers[0]?.status).toBe(201)
      const [first] = answers
      await server.person.changeTask('c1', first?.body.task.id ?? '', 1, { title: 'Changed' })
      const again = await server.ask('POST', PATH, { headers, body: { title: 'Mine', details: 'd' } })
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([201, first?.text, '"1"'])
      expect((await server.refused(409, 'POST', PATH, { headers, body: { title: 'Other' } })).code).toBe('key_conflict')
      expect((await server.person.tasks('c1')).tasks.map(({ title }) => title)).toEqual(['A', 'Changed'])
      const bad = await server.refused(400, 'POST', PATH, {
        headers: { 'idempotency-key': 'a b' },
        body: { title: 'x' },
      })
      expect(bad.code).toBe('invalid_id')
    },
  )
})

describe('a person changes a task', () => {
  const at = (task: Task | undefined): string => `/api/sessions/c1/tasks/${task?.id}`

  it.each([
    ['bare', (version: number) => `${version}`],
    ['quoted', (version: number) => `"${version}"`],
  ] as const)('[HT16] with the version in If-Match, %s', async (_, written) => {
    const server = await started()
    const [, task] = await withTasks(server, 'A', 'B')
    const headers = { 'if-match': written(task?.version ?? 0) }
    const body = { title: 'B2', details: 'd', criteria: 'c', priority: 'low', tags: ['x'] }
    const changed = await server.ask<TaskAnswer>('PATCH', at(task), { headers, body })
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"'])
    expect(changed.body.task).toMatchObject({ ...body, version: 2 })
    expect(changed.body.seq).toBe((await server.person.tasks('c1')).seq)
    const removed = await server.ask<TaskAnswer>('DELETE', at(task), { headers: { 'if-match': written(2) } })
    expect([removed.status, removed.body.task.title]).toEqual([200, 'B2'])
    expect(removed.body.task.removed_at).toBeDefined()
    expect(removed.headers.get('etag')).toBe(`"${removed.body.task.version}"`)
    expect((await server.person.tasks('c1')).tasks.map(({ title }) => title)).toEqual(['A'])
    const gone = await server.refused(404, 'PATCH', at(task), { headers, body })
    expect([gone.code, gone]).toEqual(['task_not_found', expect.not.objectContaining({ row: 0 })])
  })

  it('[HT16] a missing If-Match is 428, a stale one 412 with the task as it is, another form 400', async () => {
    const server = await started()
    const [task] = await withTasks(server, 'A')
    const body = { title: 'A2' }
    for (const method of ['PATCH', 'DELETE']) {
      const more = method === 'PATCH' ? { body } : {}
      for (const headers of [{}, { 'if-match': ' ' }] as Record<string, string>[]) {
        expect((await server.refused(428, method, at(task), { headers, ...more })).code).toBe('version_required')
      }
      for (const version of ['0', '"9"']) {
        const stale = await server.refused(412, method, at(task), { headers: { 'if-match': version }, ...more })
        expect(stale).toMatchObject({ code: 'version_mismatch', task })
        expect(stale).not.toHaveProperty('row')
      }
      for (const version of ['*', 'W/"1"', '"1', '-1', '1.0', '"1", "2"']) {
        const error = await server.refused(400, method, at(task), { headers: { 'if-match': version }, ...more })
        expect(error).toMatchObject({ code: 'invalid_request', field: 'if-match' })
      }
    }
    expect((await server.person.tasks('c1')).tasks).toEqual([task])
  })

  it('[HT16] of 20 changes to one version one is taken', async () => {
    const server = await started()
    const [task] = await withTasks(server, 'A')
    const headers = { 'if-match': String(task?.version) }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        server.ask('PATCH', at(task), { headers, body: { title: `A${index}` } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(19)
  })

  it('status follows the rules; a person owes no outcome', async () => {
    const server = await started()
    const [task] = await withTasks(server, 'A')
    const set = async (version: number, body: object) =>
      server.ask<TaskAnswer & { error: { code: string } }>('PATCH', at(task), {
        headers: { 'if-match': String(version) },
        body,
      })
    const done = (await set(1, { status: 'completed' })).body.task
    expect(done).toMatchObject({ status: 'completed', judged_by: 'person', version: 2 })
    const refused = await set(2, { status: 'blocked' })
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.objectContaining({
        code: 'status_not_allowed',
        message: expect.stringContaining('Reopen it first'),
        field: 'status',
        from: 'completed',
        to: 'blocked',
        allowed: ['pending'],
      }),
    ])
    expect((await set(2, { outcome: 'went well' })).body.task).toMatchObject({ outcome: 'went well', version: 3 })
    const reopened = (await set(3, { status: 'pending' })).body.task
    expect(reopened).toMatchObject({ judged_by: null })
    expect(reopened).not.toHaveProperty('outcome')
    expect((await set(reopened.version, {})).body.task).toEqual(reopened)
    expect(await set(reopened.version, { status: 'done' })).toMatchObject({
      status: 422,
      body: { error: { field: 'status' } },
    })
    expect(await set(reopened.version, { title: '' })).toMatchObject({
      status: 422,
      body: { error: { field: 'title' } },
    })
    expect(await set(reopened.version, { id: 'x' })).toMatchObject({ status: 422, body: { error: { field: 'id' } } })
  })

  it('position moves it to where the task at that position stands', async () => {
    const server = await started()
    const [, , task] = await withTasks(server, 'A', 'B', 'C')
    const [, b] = (await server.person.tasks('c1')).tasks
    const headers = { 'if-match': String(task?.version) }
    await server.ask('PATCH', at(task), { headers, body: { position: b?.position } })
    expect((await server.person.tasks('c1')).tasks.map(({ title }) => title)).toEqual(['A', 'C', 'B'])
  })

  it('a model that does not know of it is refused once, and told', async () => {
    const server = await started()
    const [task] = await withTasks(server, 'A', 'B')
    await server.person.changeTask('c1', task?.id ?? '', task?.version ?? 0, { title: 'A, but with care' })
    const items = [{ id: task?.id, isChecked: true }]
    const refused = resultOf(await call(server, ['checklist', 'update_checklist_items'], { items }))
    expect(JSON.stringify(refused)).toContain('A, but with care')
    expect(refused).toMatchObject({ updatedItems: [] })
    expect((await server.person.tasks('c1')).tasks[0]?.status).toBe('pending')
    const taken = resultOf(await call(server, ['checklist', 'update_checklist_items'], { items }))
    expect(taken).toMatchObject({ updatedItems: [{ title: 'A, but with care', isChecked: true }], failedItems: [] })
  })

  it('[AU2] is a person’s to do', async () => {
    const server = await started()
    const [task] = await withTasks(server, 'A')
    const headers = { 'if-match': '1' }
    const as = 'agent'
    for (const [method, path, more] of [
      ['POST', '/api/sessions/c1/tasks', { body: { title: 'x' } }],
      ['PATCH', at(task), { headers, body: { title: 'x' } }],
      ['DELETE', at(task), { headers }],
      ['POST', '/api/sessions/c1/turns/t1/stop', {}],
      ['PUT', `${TEMPLATES}/x`, { body: { tasks: [{ title: 'x' }] } }],
      ['DELETE', `${TEMPLATES}/x`, {}],
    ] as const) {
      expect((await server.refused(403, method, path, { as, ...more })).code).toBe('persons_only')
    }
  })
})

describe('the timeline', () => {
  interface Timeline {
    readonly events: readonly StoredEvent[]
    readonly seq: number
  }

  it.each(STORES)('tells of all tasks or of one, also when it is gone (%s)', async store => {
    const server = await started({ store })
    const [a, b] = await withTasks(server, 'A', 'B')
    await server.person.changeTask('c1', b?.id ?? '', 1, { title: 'B2' })
    await server.person.removeTask('c1', b?.id ?? '', 2)
    const of = async (query = ''): Promise<[string, string][]> => {
      const { body } = await server.ask<Timeline>('GET', `/api/sessions/c1/timeline${query}`, { as: 'agent' })
      return body.events.map(({ type, data }) => [type, 'task' in data ? data.task.title : ''])
    }
    expect(await of()).toEqual([
      ['task_created', 'A'],
      ['task_created', 'B'],
      ['task_changed', 'B2'],
      ['task_removed', 'B2'],
    ])
    expect(await of(`?task_id=${b?.id}`)).toEqual([
      ['task_created', 'B'],
      ['task_changed', 'B2'],
      ['task_removed', 'B2'],
    ])
    expect(await of(`?task_id=${a?.id}`)).toEqual([['task_created', 'A']])
    const { body } = await server.ask<Timeline>('GET', `/api/sessions/c1/timeline?task_id=${b?.id}`)
    expect(body.events[1]?.data).toMatchObject({ by: 'person', from: { title: 'B' } })
    expect((await server.refused(400, 'GET', '/api/sessions/c1/timeline?task_id=a.b')).code).toBe('invalid_id')
  })

  it('holds the reviews', async () => {
    const table = await Table.laid(await started({ reviewWaitMs: 1 }))
    await table.confirm(await table.proposed(), { draft_index: 0 })
    const { events } = await table.server.person.timeline('c1')
    const types = events.map(({ type }) => type)
    expect(types).toEqual(['task_create_review_required', 'task_created', 'task_create_review_resolved'])
  })
})

describe('a store without search and templates', () => {
  it('[ST29] is 501 for what it cannot do, and has no templates', async () => {
    const server = await started({ store: 'memory' })
    for (const path of ['/api/search?q=a', '/api/sessions?q=a', '/api/tasks?q=a']) {
      expect((await server.refused(501, 'GET', path)).code).toBe('unsupported')
    }
    expect((await server.person.templates()).templates).toEqual([])
    const body = { tasks: [{ title: 'a' }] }
    expect((await server.refused(501, 'PUT', `${TEMPLATES}/weekly`, { body })).message).toBe(
      'This store has no templates. SQLite, JSON files and PostgreSQL have.',
    )
    await server.refused(404, 'GET', `${TEMPLATES}/weekly`)
  })
})

describe('templates', () => {
  it.each(FULL_STORES)('are saved, listed by name, replaced and forgotten (%s)', async store => {
    const server = await started({ store })
    const list = async (): Promise<readonly Template[]> =>
      (await server.ask<{ templates: Template[] }>('GET', TEMPLATES, { as: 'agent' })).body.templates
    expect(await list()).toEqual([])
    const rows = [
      { title: ' Check ', tags: ['x'] },
      { title: 'Ship', status: 'blocked', priority: 'high' },
    ]
    const saved = await server.ask<Template>('PUT', `${TEMPLATES}/release%20day`, { body: { tasks: rows } })
    const blank = { details: '', criteria: '', priority: 'medium', status: 'todo', tags: [] }
    expect([saved.status, saved.body]).toEqual([
      200,
      {
        name: 'release day',
        tasks: [
          { ...blank, title: 'Check', tags: ['x'] },
          { ...blank, title: 'Ship', status: 'blocked', priority: 'high' },
        ],
      },
    ])
    expect((await server.ask('GET', `${TEMPLATES}/release%20day`, { as: 'agent' })).body).toEqual(saved.body)
    await server.ask('PUT', `${TEMPLATES}/a`, { body: { name: 'a', tasks: [{ title: 'x' }] } })
    expect((await list()).map(({ name }) => name)).toEqual(['a', 'release day'])
    await server.ask('PUT', `${TEMPLATES}/a`, { body: { tasks: [{ title: 'y' }] } })
    expect((await server.ask<Template>('GET', `${TEMPLATES}/a`)).body.tasks).toMatchObject([{ title: 'y' }])
    expect(await server.ask('DELETE', `${TEMPLATES}/a`)).toMatchObject({ status: 204, text: '' })
    expect((await list()).map(({ name }) => name)).toEqual(['release day'])
    for (const method of ['GET', 'DELETE']) {
      expect((await server.refused(404, method, `${TEMPLATES}/a`)).code).toBe('template_not_found')
    }
  })

  it('what was saved can be submitted to a review as it is', async () => {
    const table = await Table.laid(await started({ store: 'sqlite', reviewWaitMs: 1 }))
    const { tasks } = await table.server.person.saveTemplate('t', [{ title: 'x', criteria: 'c', status: 'doing' }])
    expect((await table.confirm(await table.proposed(), ...tasks)).status).toBe(200)
    expect(await table.titles()).toEqual(['x'])
  })

  it.each([
    ['no rows', {}, { field: 'tasks' }],
    ['0 rows', { tasks: [] }, { code: 'batch_empty' }],
    ['21 rows', { tasks: Array.from({ length: 21 }, () => ({ title: 'x' })) }, { code: 'batch_too_large' }],
    ['an empty title', { tasks: [{ title: 'x' }, { title: '' }] }, { row: 1, field: 'title' }],
    ['no title', { tasks: [{}] }, { row: 0, field: 'title' }],
    [
      'two doing',
      { tasks: [1, 2].map(() => ({ title: 'x', status: 'doing' })) },
      { code: 'two_in_progress', row: 1, field: 'status' },
    ],
    ['a draft that it has not', { tasks: [{ title: 'x', draft_index: 0 }] }, { row: 0, field: 'draft_index' }],
    ['an unknown key', { tasks: [{ title: 'x' }], note: 'x' }, { field: 'note' }],
    ['another name', { name: 'b', tasks: [{ title: 'x' }] }, { field: 'name' }],
  ])('[HT6] %s is 422', async (_, body, where) => {
    const server = await started()
    const error = await server.refused(422, 'PUT', `${TEMPLATES}/a`, { body })
    expect(error).toMatchObject({ code: 'invalid_field', ...where })
    expect((await server.person.templates()).templates).toEqual([])
  })

  it('a name is one line of up to 64 characters', async () => {
    const server = await started({ store: 'sqlite' })
    const body = { tasks: [{ title: 'x' }] }
    const long = await server.refused(422, 'PUT', `${TEMPLATES}/${'x'.repeat(65)}`, { body })
    expect(long).toMatchObject({ code: 'invalid_field', field: 'name' })
    expect((await server.refused(400, 'PUT', `${TEMPLATES}/a%0Ab`, { body })).field).toBe('name')
    expect((await server.ask('PUT', `${TEMPLATES}/${encodeURIComponent('Größe 🙂/1')}`, { body })).status).toBe(200)
    expect((await server.person.template('Größe 🙂/1')).name).toBe('Größe 🙂/1')
  })
})

describe('toolsets', () => {
  it('are listed with what they are', async () => {
    const server = await started()
    const { body } = await server.ask<ToolsetsAnswer>('GET', '/api/toolsets', { as: 'agent' })
    expect(body.default).toBe('runsheet')
    const rows = body.toolsets.map(({ name, scope, review, assessor, gate }) => [name, scope, review, assessor, gate])
    expect(rows).toEqual([
      ['manage_todos', 'turn', false, true, false],
      ['checklist', 'conversation', false, false, false],
      ['task_manager', 'conversation', true, false, false],
      ['turn_todos', 'turn', false, false, true],
      ['task_list', 'conversation', false, false, false],
      ['runsheet', 'conversation', true, true, true],
    ])
    for (const { name, tools } of body.toolsets) expect(tools).toEqual(toolsets[name].tools.map(tool => tool.name))
  })

  it('are listed as new conversations get them', async () => {
    const host = { toolset: 'turn_todos', review: true, review_timeout_ms: 1_000, assessor: false } as const
    const server = await started({ host })
    const { body } = await server.ask<ToolsetsAnswer>('GET', '/api/toolsets', { as: 'agent' })
    expect(body.default).toBe('turn_todos')
    expect(
      body.toolsets.map(({ name, review, review_timeout_ms, gate }) => [name, review, review_timeout_ms, gate]),
    ).toEqual([
      ['checklist', true, 1_000, false],
      ['task_manager', true, 1_000, false],
      ['turn_todos', true, 1_000, true],
      ['task_list', true, 1_000, false],
      ['runsheet', true, 1_000, true],
    ])
  })

  it.each(Object.keys(CREATING) as ToolsetName[])('%s comes in the OpenAI function format', async name => {
    const server = await started()
    const { body } = await server.ask<ToolsetAnswer>('GET', `/api/toolsets/${name}`, { as: 'agent' })
    expect(body).toEqual({ name, tools: openAiTools(toolsets[name]), prompt: promptFor(toolsets[name]) })
  })

  it.each(['todo', 'constructor', '__proto__'])('%s is not a toolset', async name => {
    const server = await started()
    expect((await server.refused(404, 'GET', `/api/toolsets/${name}`)).code).toBe('toolset_not_found')
    const body = { session_id: 'c1', turn_id: 't1', arguments: {} }
    const none = await server.refused(404, 'POST', `/api/toolsets/${name}/tools/plan`, { as: 'agent', body })
    expect(none.code).toBe('toolset_not_found')
  })

  it('models are those that are configured', async () => {
    const models = [
      { name: 'demo', default: true },
      { name: 'openai:gpt', default: false },
    ]
    const server = await started({ turns: { names: ['demo', 'openai:gpt'], defaultName: 'demo', take: () => {} } })
    expect((await server.ask('GET', '/api/models', { as: 'agent' })).body).toEqual({ models })
  })
})

describe('a tool call', () => {
  it('[HT21] answers exactly what the model sees, also where that is a refusal', async () => {
    const server = await started()
    const add = ['checklist', 'add_multiple_checklist_items'] as const
    const made = await call(server, add, { items: [{ title: 'A' }, { title: 'B', isChecked: true }] })
    expect(made).toMatchObject({ status: 200 })
    const { tasks } = await server.person.tasks('c1')
    expect(made.body).toEqual({
      result: {
        createdItems: tasks.map(({ id, title, status }) => ({ id, title, isChecked: status === 'completed' })),
      },
    })
    for (const input of [{ items: 'A, B' }, {}, null, 7, [], { items: [] }]) {
      const refused = await call(server, add, input)
      expect(refused).toMatchObject({ status: 200, body: { result: { error: expect.stringContaining('"items"') } } })
    }
    expect((await server.person.tasks('c1')).tasks).toHaveLength(2)
  })

  it('[HT21] is told which conversation and turn it is in by its body, never by the model', async () => {
    const server = await started()
    const input = { items: [{ title: 'A', session_id: 'c2', turn_id: 't2' }], session_id: 'c2' }
    await call(server, ['checklist', 'add_multiple_checklist_items'], input)
    expect((await server.person.tasks('c1', { turn_id: 't1' })).tasks).toHaveLength(1)
    expect((await server.person.sessions()).sessions).toHaveLength(1)
  })

  it('[HT21] of an unknown tool is 404, and creates no conversation', async () => {
    const server = await started()
    const body = { session_id: 'c1', turn_id: 't1', arguments: {} }
    const none = await server.refused(404, 'POST', '/api/toolsets/checklist/tools/plan', { as: 'agent', body })
    expect([none.code, none.message]).toEqual(['tool_not_found', expect.stringContaining('update_checklist_items')])
    await server.refused(404, 'GET', '/api/sessions/c1')
  })

  it.each([
    [400, { turn_id: 't1', arguments: {} }, { code: 'invalid_id', field: 'session_id' }],
    [400, { session_id: 'c1', arguments: {} }, { code: 'invalid_id', field: 'turn_id' }],
    [400, { session_id: '../c1', turn_id: 't1', arguments: {} }, { code: 'invalid_id', field: 'session_id' }],
    [400, { session_id: 'c1', turn_id: 'x'.repeat(129), arguments: {} }, { code: 'invalid_id', field: 'turn_id' }],
    [422, { session_id: 'c1', turn_id: 't1', tool_call_id: '', arguments: {} }, { field: 'tool_call_id' }],
    [422, { session_id: 'c1', turn_id: 't1', tool_call_id: 7, arguments: {} }, { field: 'tool_call_id' }],
    [422, { session_id: 'c1', turn_id: 't1', tool_call_id: 'x'.repeat(201), arguments: {} }, { field: 'tool_call_id' }],
    [422, { session_id: 'c1', turn_id: 't1', arguments: {}, args: {} }, { field: 'args' }],
    [422, { session_id: 'c1', turn_id: 't1' }, { message: 'arguments is required.' }],
  ])('[HT6][HT21] with a wrong body is %i: %j', async (status, body, where) => {
    const server = await started()
    const path = '/api/toolsets/runsheet/tools/tasks'
    expect(await server.refused(status, 'POST', path, { as: 'agent', body })).toMatchObject(where)
  })

  it('[HT21] into a conversation in which a turn runs is 409 turn_running', async () => {
    const server = await started()
    await startTurn(server)
    for (const turn_id of ['run-1', 't2']) {
      const body = { session_id: 'c1', turn_id, arguments: { tasks: [{ title: 'x' }] } }
      const error = await server.refused(409, 'POST', '/api/toolsets/runsheet/tools/plan', { as: 'agent', body })
      expect(error.code).toBe('turn_running')
    }
  })

  it('[HT21] into a turn that is over is 409 turn_finished', async () => {
    const server = await started()
    await startTurn(server)
    const usage = { input_tokens: 0, output_tokens: 0 }
    const end = { type: 'finish_turn', turn_id: 'run-1', because: 'answered', steps: 1, usage } as const
    await server.door.run({ tenant: 'local', conversation: 'c1' }, end)
    const body = { session_id: 'c1', turn_id: 'run-1', arguments: {} }
    const error = await server.refused(409, 'POST', '/api/toolsets/runsheet/tools/tasks', { as: 'agent', body })
    expect(error.code).toBe('turn_finished')
  })
})

describe('stopping', () => {
  it('is a commit, and stopping again changes nothing', async () => {
    const server = await started()
    await startTurn(server)
    const path = '/api/sessions/c1/turns/run-1/stop'
    const first = await server.ask<TurnAnswer>('POST', path)
    expect([first.status, first.body.turn]).toEqual([
      200,
      expect.objectContaining({ turn_id: 'run-1', status: 'running', stop_requested: true }),
    ])
    const again = await server.ask<TurnAnswer>('POST', path)
    expect([again.status, again.text]).toEqual([200, first.text])
    const log = await server.door.conversations.eventsAfter({ tenant: 'local', conversation: 'c1' }, 0, 100)
    expect(log.filter(({ type }) => type === 'turn_stop_requested')).toHaveLength(1)
  })
})

describe('chat', () => {
  const body = { session_id: 'c1', turn_id: 't1', message: 'Hello' }

  it('[HT1] answers 501 as long as this server runs no turns', async () => {
    const server = await started()
    expect((await server.refused(501, 'POST', '/api/chat', { body })).code).toBe('not_implemented')
    expect((await server.refused(403, 'POST', '/api/chat', { as: 'agent', body })).code).toBe('persons_only')
    expect((await server.refused(422, 'POST', '/api/chat', { body: { ...body, message: '' } })).field).toBe('message')
    expect((await server.refused(422, 'POST', '/api/chat', { body: { ...body, gate: 'on' } })).field).toBe('gate')
    expect((await server.refused(400, 'POST', '/api/chat', { body: { ...body, turn_id: '' } })).code).toBe('invalid_id')
    await server.refused(404, 'GET', '/api/sessions/c1')
  })
})

/** A server whose store can be made to fail. */
async function fragile(): Promise<{ server: CheckedServer; fail: (error: Error | undefined) => void }> {
  const place = await placeFor('sqlite', '')
  const stored = await place.open()
  onTestFinished(place.remove)
  let failure: Error | undefined
  const failing = async (): Promise<never> => {
    throw failure
  }
  const failsOf = <T extends object>(part: T): T =>
    new Proxy(part, {
      get: (target, name) => {
        const value: unknown = target[name as keyof T]
        return failure ? failing : typeof value === 'function' ? value.bind(target) : value
      },
    })
  const commit: Store['commit'] = (at, decide) => (failure ? failing() : stored.commit(at, decide))
  const due: Store['due'] = limit => (failure ? failing() : stored.due(limit))
  const probe: Store['probe'] = options => (failure ? failing() : stored.probe(options))
  const parts = {
    commit,
    due,
    probe,
    queries: failsOf(stored.queries),
    search: failsOf(stored.search),
    templates: failsOf(stored.templates),
  }
  const server = await started({ door: openDoor({ store: storeWith(stored, parts) }) })
  return { server, fail: error => (failure = error) }
}

describe('probes', () => {
  it('[HT26] health and readiness ask for no token', async () => {
    const server = await started()
    for (const path of ['/healthz', '/readyz']) {
      expect(await server.ask('GET', path, { as: 'nobody' })).toMatchObject({ status: 200, body: { status: 'ok' } })
    }
  })

  it('[HT26] a server with failing storage is healthy, but not ready until storage recovers', async () => {
    const { server, fail } = await fragile()
    fail(new StoreError('io', 'The disk does not answer.'))
    expect((await server.ask('GET', '/healthz', { as: 'nobody' })).status).toBe(200)
    await server.refused(503, 'GET', '/readyz', { as: 'nobody' })
    fail(undefined)
    expect((await server.ask('GET', '/readyz', { as: 'nobody' })).status).toBe(200)
  })

  it('[HT26] a probe does not wait for storage that hangs', async () => {
    const memory = openMemoryStore()
    const never = Promise.withResolvers<never>()
    const server = await started({ door: openDoor({ store: storeWith(memory, { probe: () => never.promise }) }) })
    expect((await server.refused(503, 'GET', '/readyz', { as: 'nobody' })).code).toBe('not_ready')
  })

  it('[HT26] metrics count calls, requests and decisions, in the text format of Prometheus', async () => {
    const table = await Table.laid(await started({ reviewWaitMs: 1 }))
    const id = await table.proposed('call-1')
    await table.confirm(id, { draft_index: 0 })
    await table.call('call-1')
    await table.call('call-2', { tasks: 'none' })
    const { text, headers } = await table.server.ask('GET', '/metrics', { as: 'nobody' })
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    const decision =
      'runsheet_http_request_duration_seconds_count{method="POST",route="/api/task-manager/reviews/:review_id/decision",status="200"} 1'
    for (const line of [
      decision,
      'runsheet_tool_calls_total{toolset="task_manager",tool="add_task",edge="http",outcome="refused"} 1',
      'runsheet_reviews_resolved_total{action="confirm",reason="none"} 1',
      'runsheet_stream_readers 0',
      'runsheet_stream_cuts 0',
    ]) {
      expect(text).toContain(`${line}\n`)
    }
    expect(text).toContain('process_cpu_seconds_total')
    expect(text).not.toContain(id)
  })
})

describe('storage that fails', () => {
  const FAILURES: readonly [StoreErrorCode, number, again: string | null][] = [
    ['busy', 503, '1'],
    ['full', 507, null],
    ['readonly', 503, null],
    ['io', 503, '1'],
    ['corrupt', 503, null],
    ['replaced', 503, null],
    ['unknown_outcome', 503, null],
  ]

  it.each(FAILURES)('%s is %i with its code, and the next request is served', async (code, status, again) => {
    const { server, fail } = await fragile()
    const [task] = await withTasks(server, 'A')
    fail(new StoreError(code, 'Storage fails.', { cause: new Error('at /home/ada/runsheet.db') }))
    const headers = { 'if-match': '1' }
    const requests = [
      ['POST', '/api/sessions/c1/tasks', { body: { title: 'x' } }],
      ['PATCH', `/api/sessions/c1/tasks/${task?.id}`, { headers, body: { title: 'x' } }],
      ['DELETE', `/api/sessions/c1/tasks/${task?.id}`, { headers }],
      ['PUT', '/api/sessions/c1/policy', { body: { gate: true } }],
      ['POST', '/api/sessions/c1/turns/t1/stop', {}],
      [
        'POST',
        '/api/toolsets/checklist/tools/update_checklist_items',
        {
          body: { session_id: 'c1', turn_id: 't1', arguments: { items: [{ id: task?.id, isChecked: true }] } },
        },
      ],
      ['PUT', `${TEMPLATES}/a`, { body: { tasks: [{ title: 'x' }] } }],
      ['GET', '/api/sessions', {}],
      ['GET', '/api/tasks?q=x', {}],
      ['GET', '/api/task-manager/reviews/pending', {}],
    ] as const
    for (const [method, path, more] of requests) {
      const answer = await server.ask(method, path, more)
      expect([path, answer.status, answer.body]).toEqual([path, status, { error: { code, message: 'Storage fails.' } }])
      expect(answer.headers.get('retry-after')).toBe(again)
    }
    fail(undefined)
    expect((await server.person.tasks('c1')).tasks).toEqual([task])
    expect((await server.ask('POST', '/api/sessions/c1/tasks', { body: { title: 'x' } })).status).toBe(201)
  })

  it('[HT1] an unexpected error is 500 without its details, which are in the log', async () => {
    const { server, fail } = await fragile()
    fail(new Error('SQLITE_ERROR at /home/ada/runsheet.db'))
    const answer = await server.ask('GET', '/api/sessions')
    expect([answer.status, answer.body]).toEqual([500, { error: { code: 'internal', message: expect.any(String) } }])
    expect(answer.text).not.toMatch(/home|SQLITE|at /)
    expect(server.logged()).toContain('SQLITE_ERROR')
  })
})
