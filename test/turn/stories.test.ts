import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/model/event.ts'
import { startCli } from '../support/cli-turns.ts'
import { type ModelRequest, Provider } from '../support/provider.ts'
import { scratchFolder } from '../support/scratch.ts'
import { type ChatReader, MODEL, startTurns, type TestTurns } from '../support/turns.ts'

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

async function turns(...options: Parameters<typeof startTurns>): Promise<TestTurns> {
  const started = await startTurns(...options)
  open.push(started)
  return started
}

/** What the last tool call that the model knows of was answered. */
function lastAnswer({ messages }: ModelRequest): Json {
  const content = messages.findLast(({ role }) => role === 'tool')?.content ?? 'null'
  return JSON.parse(content) as Json
}
const lastSaid = ({ messages }: ModelRequest): string => messages.findLast(({ role }) => role === 'user')?.content ?? ''
const finishedOf = (reader: ChatReader): unknown => reader.of('turn_finished')[0]?.data

describe('the stories', () => {
  it('manage_todos: planned, judged, advanced, capped, and continued to the end', async () => {
    const steps = Array.from({ length: 8 }, (_, place) => `Step ${place + 1}`)
    const said: string[] = []
    const server = await turns({
      answers: (request, count) => {
        said.push(lastSaid(request))
        if (count === 0) return { calls: [{ tool: 'manage_todos', args: { add: steps } }] }
        return `Did what was asked for in call ${count}.`
      },
      // The third is sent back once, the fourth twice.
      assessor: [
        'OK',
        'OK',
        'NOT_OK: no numbers',
        'OK',
        'NOT_OK: no names',
        'NOT_OK: still no names',
        'OK',
        'OK',
        'OK',
        'OK',
      ],
    })
    const first = await server.chat({ toolset: 'manage_todos', message: 'Do all eight.' })
    expect(server.provider.tools(0)).toEqual(['manage_todos'])

    const [planned] = first.of('tool_answered')
    expect(planned?.data.result).toMatchObject({
      success: true,
      state: { total: 8, remaining: 8, current: { id: 1, description: 'Step 1', status: 'current' } },
    })
    const advanced = first.of('todos_resubmitting').map(({ data }) => data)
    expect(advanced.map(({ next, iteration, max_iterations }) => [next, iteration, max_iterations])).toEqual(
      [2, 3, 4, 5, 6].map((number, place) => [`Step ${number}`, place + 1, 5]),
    )
    expect(advanced[0]?.state).toMatchObject({ total: 8, remaining: 7, current: { description: 'Step 2' } })
    const synthetic = first.of('message_added').filter(({ data }) => data.synthetic)
    expect(synthetic.map(({ data }) => data.text)).toEqual([
      'NEXT_TODO: Step 2',
      'NEXT_TODO: Step 3',
      'That step is not done yet: no numbers. Continue with it: Step 3',
      'NEXT_TODO: Step 4',
      'That step is not done yet: no names. Continue with it: Step 4',
      'NEXT_TODO: Step 5',
      'NEXT_TODO: Step 6',
    ])
    expect(said.slice(2)).toEqual(synthetic.map(({ data }) => data.text))
    expect(first.of('task_assessed').map(({ data }) => data.verdict)).toEqual([
      'ok',
      'ok',
      'not_ok',
      'ok',
      'not_ok',
      'not_ok',
      'ok',
      'ok',
    ])
    expect(first.of('todos_limit_reached').map(({ data }) => data)).toEqual([
      {
        message: expect.stringContaining('5') as string,
        remaining: 2,
        current: { id: 7, description: 'Step 7', status: 'current' },
      },
    ])
    expect(finishedOf(first)).toMatchObject({
      status: 'incomplete',
      remaining: 2,
      counts: { completed: 5, blocked: 1, disputed: 0, cancelled: 0, removed: 0, open: 2 },
      steps: 9,
    })
    const last = first.of('message_added').at(-1)?.data
    expect(last?.role).toBe('assistant')
    expect(last?.text).toContain('- Step 7\n- Step 8\n- Step 4 (blocked: still no names)')
    // The panel hears of every change, and at the end of none that is current but the seventh.
    expect(first.asides('todos_current').at(-1)?.data).toMatchObject({ remaining: 2, total: 8 })

    const second = await server.chat({ turn_id: 't2', message: 'Go on.', continue_turn_id: 't1' })
    expect(second.of('turn_started')[0]?.data).toMatchObject({ continue_turn_id: 't1' })
    expect(server.provider.system(-1)).toContain('Step 8')
    expect(second.of('todos_resubmitting').map(({ data }) => data.next)).toEqual(['Step 8'])
    // Of the whole plan, one step is still blocked.
    expect(finishedOf(second)).toMatchObject({ status: 'incomplete', remaining: 0, steps: 2 })
    expect(second.of('message_added').at(-1)?.data.text).toContain('Not done:\n- Step 4 (blocked: still no names)')
    expect((await server.statuses()).filter(([, status]) => status !== 'completed')).toEqual([['Step 4', 'blocked']])
    const tasks = await server.tasks()
    expect(new Set(tasks.map(task => task.conversation_turn_id))).toEqual(new Set(['t1']))
    expect(new Set(tasks.map(({ judged_by }) => judged_by))).toEqual(new Set(['assessor']))
    expect(server.complaints).toEqual([])
  })

  it('[TR20] task_manager: a person edits the plan before anything is written, and the model is told what and why', async () => {
    const heard: Json[] = []
    const server = await turns({
      answers: (request, count) => {
        if (count === 0) {
          const tasks = [
            { title: 'Read the logs', details: 'all of them', priority: 'high', tags: ['ops'] },
            { title: 'Guess', status: 'todo' },
            { title: 'Write it up' },
          ]
          return { text: 'I propose this.', calls: [{ tool: 'add_task', args: { tasks } }] }
        }
        const answer = lastAnswer(request)
        heard.push(answer)
        if (count === 1) {
          const [first] = (answer as unknown as { tasks: { id: string }[] }).tasks
          return { calls: [{ tool: 'complete_task', args: { id: first?.id, outcome: 'Read them' } }] }
        }
        return 'Read; the rest is up to you.'
      },
    })
    const reader = await server.open({ toolset: 'task_manager', message: 'Find out what happened.' })
    await reader.reached('task_create_review_required')
    expect(await server.tasks()).toEqual([])
    const [review] = reader.of('task_create_review_required')
    expect(review?.data).toMatchObject({
      status: 'pending',
      session_id: 'c1',
      conversation_turn_id: 't1',
      timeout_ms: 120_000,
      draft_tasks: [
        { title: 'Read the logs', details: 'all of them', priority: 'high', status: 'todo', tags: ['ops'] },
        { title: 'Guess', priority: 'medium', status: 'todo', tags: [] },
        { title: 'Write it up' },
      ],
    })
    const decision = {
      action: 'confirm',
      tasks: [
        { title: 'Write it up, briefly', draft_index: 2, priority: 'low' },
        { title: 'Read the logs', draft_index: 0 },
        { title: 'Ask the night shift' },
      ],
      comment: 'No guessing.',
    } as const
    await server.person.decide(review?.data.review_id ?? '', decision)
    await reader.over

    const [answer] = heard
    expect(answer).toMatchObject({
      confirmed: true,
      created_count: 3,
      session_id: 'c1',
      conversation_turn_id: 't1',
      comment: 'No guessing.',
      tasks: [
        { title: 'Write it up, briefly', priority: 'low', status: 'doing', created_by: 'tool' },
        { title: 'Read the logs', details: 'all of them', priority: 'high', tags: ['ops'], status: 'todo' },
        { title: 'Ask the night shift', created_by: 'user' },
      ],
      changes: {
        kept: [{ title: 'Read the logs' }],
        edited: [{ from: { title: 'Write it up' }, to: { title: 'Write it up, briefly', priority: 'low' } }],
        added: [{ title: 'Ask the night shift' }],
        removed: [{ title: 'Guess' }],
        reordered: true,
      },
    })
    expect(heard[1]).toMatchObject({ ok: true, remaining: 2, next: { title: 'Read the logs' } })
    const tasks = await server.tasks()
    expect(tasks.map(({ title, status }) => [title, status])).toEqual([
      ['Write it up, briefly', 'completed'],
      ['Read the logs', 'in_progress'],
      ['Ask the night shift', 'pending'],
    ])
    const [started] = reader.of('turn_started')
    const [step] = reader.of('step_finished')
    expect(tasks[0]).toMatchObject({
      session_id: 'c1',
      conversation_turn_id: 't1',
      source_user_message_id: started?.data.message_id,
      source_assistant_message_id: step?.data.message_id,
    })
    // Neither judge nor gate: the plan does not count.
    expect(finishedOf(reader)).toMatchObject({ status: 'done', remaining: 2 })
  })

  it('[TR9] turn_todos: a plan of twelve is drained beyond ten calls', async () => {
    const items = Array.from({ length: 12 }, (_, place) => ({ title: `Item ${place + 1}`, completionCriteria: 'done' }))
    const server = await turns({
      answers: (request, count) => {
        if (count === 0) return { calls: [{ tool: 'create_todo', args: { items } }] }
        // It gives up once in the middle: the gate does not.
        if (count === 6) return 'That should do.'
        const { messages } = request
        const system = messages.find(({ role }) => role === 'system')?.content ?? ''
        const [, todoId] = /^Now:\n- (\S+) /m.exec(system) ?? []
        if (todoId === undefined) return 'All twelve are done.'
        return { calls: [{ tool: 'complete_todo', args: { todoId, outcome: `Done in call ${count}` } }] }
      },
    })
    const reader = await server.chat({ toolset: 'turn_todos', message: 'Do all twelve.' })
    expect(reader.of('tool_answered')[0]?.data.result).toMatchObject({ totalPending: 12 })
    expect(reader.of('gate_followed').map(({ data }) => [data.follow_up, data.open.length])).toEqual([[1, 7]])
    expect(reader.of('tool_answered').at(-1)?.data.result).toMatchObject({ status: 'completed', remaining: 0 })
    expect(finishedOf(reader)).toMatchObject({ status: 'done', remaining: 0, steps: 15, counts: { completed: 12 } })
    expect(server.provider.asked).toHaveLength(15)
    expect(server.provider.judged).toHaveLength(0)
    for (let count = 0; count < 15; count += 1) {
      expect(server.provider.system(count)).toContain('create_todo')
      // The digest replaces the one before.
      const digests = JSON.stringify(server.provider.messages(count)).split('Where the plan stands').length - 1
      expect(digests).toBe(count === 0 ? 0 : 1)
    }
    expect(server.provider.system(8)).toContain('The request: Do all twelve.')
    expect(new Set((await server.tasks()).map(({ status }) => status))).toEqual(new Set(['completed']))
  })

  it('checklist: a batch in another form is refused, taught and retried', async () => {
    const heard: Json[] = []
    const server = await turns({
      answers: (request, count) => {
        if (count > 0) heard.push(lastAnswer(request))
        const tool = 'add_multiple_checklist_items'
        if (count === 0) return { calls: [{ tool, args: { items: 'milk, bread, eggs' } }] }
        if (count === 1) return { calls: [{ tool, args: { items: [{ title: 'milk' }, 'bread'] } }] }
        if (count === 2) {
          const rows = [{ title: ' milk ' }, { title: '' }, { title: 'bread', isChecked: true }, { title: 'milk' }]
          return { calls: [{ tool, args: { items: rows } }] }
        }
        return 'Your list is there.'
      },
    })
    const reader = await server.chat({ toolset: 'checklist', message: 'Milk, bread (I have it) and milk again.' })
    const [text, shape, made] = heard as [{ error: string }, { error: string }, { createdItems: unknown[] }]
    for (const { error } of [text, shape]) {
      expect(error).toContain('JSON array of objects')
      expect(error).toMatch(/\{"items":\[\{"title":"…"\}/)
    }
    expect(shape.error).toContain('items[1]')
    expect(made.createdItems).toEqual([
      { id: expect.any(String) as string, title: 'milk', isChecked: false },
      { id: expect.any(String) as string, title: 'bread', isChecked: true },
      { id: expect.any(String) as string, title: 'milk', isChecked: false },
    ])
    expect(reader.of('tool_answered').map(({ data }) => data.ok)).toEqual([false, false, true])
    expect((await server.tasks()).map(({ title }) => title)).toEqual(['milk', 'bread', 'milk'])
    expect(server.provider.tools(0)).toEqual(['add_multiple_checklist_items', 'update_checklist_items'])
    expect(finishedOf(reader)).toMatchObject({ status: 'done' })
  })

  it('task_list: a conversation goes on the next day, on the same data', async () => {
    const data = scratchFolder()
    open.push({ close: async () => rmSync(data, { recursive: true, force: true }) })
    const provider = await Provider.start()
    open.push(provider)
    const session = 'F9168C5E-CEB2-4faa-B6BF-329BF39FA1E4'
    const file = join(data, '.agents/tasks/f9168c5eceb24faab6bf329bf39fa1e4.json')
    const onFile = (): unknown => JSON.parse(readFileSync(file, 'utf8'))

    const env = { RUNSHEET_MODEL: MODEL, RUNSHEET_MODEL_URL: provider.url }
    const today = await startCli({ data, store: 'file', env })
    open.push({ close: async () => void (await today.end()) })
    provider.script((_, count) => {
      if (count > 0) return 'Both are on the list.'
      const calls = [
        { tool: 'AddTask', args: { title: 'Buy paint', description: 'white' } },
        { tool: 'AddTask', args: { title: 'Paint' } },
      ]
      return { calls }
    })
    const first = await today.chat({ session_id: session, toolset: 'task_list', message: 'Buy paint, then paint.' })
    expect(finishedOf(first)).toMatchObject({ status: 'done' })
    expect(onFile()).toMatchObject({
      tasks: [
        { id: '1', title: 'Buy paint', description: 'white', done: false },
        { id: '2', title: 'Paint', description: '', done: false },
      ],
    })
    await today.end()

    const nextDay = await startCli({ data, store: 'file', env })
    open.push({ close: async () => void (await nextDay.end()) })
    const heard: Json[] = []
    provider.script((request, count) => {
      if (count > 0) heard.push(lastAnswer(request))
      if (count === 0) return { calls: [{ tool: 'ListTasks' }] }
      if (count === 1) return { calls: [{ tool: 'CompleteTask', args: { taskId: '1' } }] }
      if (count === 2) return { calls: [{ tool: 'CompleteTask', args: { taskId: '7' } }] }
      return 'The paint is bought.'
    })
    const second = await nextDay.chat({ session_id: session, turn_id: 't2', message: 'I bought the paint.' })
    expect(finishedOf(second)).toMatchObject({ status: 'done' })
    expect(heard).toEqual([
      {
        tasks: [
          { id: '1', title: 'Buy paint', description: 'white', done: false },
          { id: '2', title: 'Paint', description: '', done: false },
        ],
      },
      { ok: true, task: { id: '1', title: 'Buy paint', description: 'white', done: true } },
      { ok: false, error: 'Task not found' },
    ])
    const told = provider.messages(0).filter(({ role }) => role !== 'system')
    expect(
      told.map(({ role, content, tool_calls }) => [role, tool_calls?.map(call => call.function.name) ?? content]),
    ).toEqual([
      ['user', 'Buy paint, then paint.'],
      ['assistant', ['AddTask', 'AddTask']],
      ['tool', expect.stringContaining('Buy paint') as string],
      ['tool', expect.stringContaining('Paint') as string],
      ['assistant', 'Both are on the list.'],
      ['user', 'I bought the paint.'],
    ])
    expect(onFile()).toMatchObject({
      tasks: [
        { id: '1', done: true },
        { id: '2', done: false },
      ],
    })
    const { tasks } = await nextDay.person.tasks(session)
    expect(tasks.map(({ title, status }) => [title, status])).toEqual([
      ['Buy paint', 'completed'],
      ['Paint', 'pending'],
    ])
  })
})
