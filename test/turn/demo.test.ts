import { readFileSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ToolsetName } from '../../src/core/model/policy.ts'
import { type CliTurns, startCli } from '../support/cli-turns.ts'
import { scratchFolder } from '../support/scratch.ts'
import { type ChatReader, confirmAll, confirmed } from '../support/turns.ts'

const data = scratchFolder()
let server: CliTurns
beforeAll(async () => {
  server = await startCli({ data })
})
afterAll(async () => {
  await server.end()
  rmSync(data, { recursive: true, force: true })
})

const DEMO = 'I am the demo model'
const finished = (reader: ChatReader) => reader.of('turn_finished')[0]?.data
const lastWords = (reader: ChatReader): string => reader.of('message_added').at(-1)?.data.text ?? ''
const drafted = (reader: ChatReader, count = 0): string[] =>
  reader
    .of('task_create_review_required')
    .at(count)
    ?.data.draft_tasks.map(({ title }) => title) ?? []
const statuses = async (session: string): Promise<[string, string][]> =>
  (await server.person.tasks(session)).tasks.map(({ title, status }) => [title, status])

/** From the page's source: its modules need the built package. */
function examplesOf(language: string): string[] {
  const source = readFileSync(new URL(`../../src/ui/page/texts/${language}.ts`, import.meta.url), 'utf8')
  const [, list = ''] = /examples: \[([^\]]+)\]/.exec(source) ?? []
  const examples = [...list.matchAll(/'([^']+)'/g)].map(([, example = '']) => example)
  expect(examples).toHaveLength(3)
  return examples
}

describe.concurrent('the demo model, from the command line, with nothing set', () => {
  it('plans what a newcomer asks for, goes by their edits, and finishes', async () => {
    const message = 'Write a haiku about rain, then draft the invitation, and finally write the report.'
    const reader = await server.chat({ session_id: 'new', message }, ({ draft_tasks: [first] }) => ({
      action: 'confirm',
      tasks: [
        { title: 'Compute 12 * 7' },
        { title: `${first?.title} on the roof`, draft_index: 0 },
        { title: 'Write the report', draft_index: 2 },
      ],
      comment: 'Be brief.',
    }))
    expect(drafted(reader)).toEqual(['Write a haiku about rain', 'Draft the invitation', 'Write the report'])
    expect(reader.of('turn_started')[0]?.data).toMatchObject({ model: 'demo', policy: { toolset: 'runsheet' } })
    expect(finished(reader)).toMatchObject({ status: 'done', remaining: 0, counts: { completed: 3, blocked: 0 } })
    expect(await statuses('new')).toEqual([
      ['Compute 12 * 7', 'completed'],
      ['Write a haiku about rain on the roof', 'completed'],
      ['Write the report', 'completed'],
    ])
    const { tasks } = await server.person.tasks('new')
    expect(tasks.map(({ outcome }) => outcome)[0]).toBe('12 * 7 = 84')
    // The assessor is on, and is the demo model, too.
    expect(reader.of('task_assessed').map(({ data }) => [data.verdict, data.model])).toEqual(
      Array.from({ length: 3 }, () => ['ok', 'demo']),
    )
    const words = lastWords(reader)
    expect(words).toMatch(/^Finished\./)
    expect(words).toContain('You said: “Be brief.”.')
    expect(words).not.toContain(DEMO)
    expect(reader.asides('text_delta').length).toBeGreaterThan(10)
    expect(reader.of('gate_followed')).toEqual([])
  })

  it.each([
    ['a numbered list', '1. Buy milk\n2. Call mum', ['Buy milk', 'Call mum']],
    ['sentences', 'Please read it. Fix it! Ship it.', ['Read it', 'Fix it', 'Ship it']],
    [
      'a series',
      'Plan a party: book a venue, invite ten friends and order a cake.',
      ['Book a venue', 'Invite ten friends', 'Order a cake'],
    ],
  ])('[MO1] splits %s', async (name, message, titles) => {
    const session_id = `split-${name.replaceAll(' ', '-')}`
    const reader = await server.chat({ session_id, message }, confirmAll)
    expect(drafted(reader)).toEqual(titles)
    // None of these can be done without tools, and the turn says so.
    expect(finished(reader)).toMatchObject({ status: 'incomplete', counts: { completed: 0, blocked: titles.length } })
  })

  it('plans a goal that names no steps, and really does what it can write or compute', async () => {
    const message = 'Plan a birthday party for 20 people'
    const reader = await server.chat({ session_id: 'party', message }, confirmAll)
    expect(drafted(reader)).toHaveLength(5)
    expect(finished(reader)).toMatchObject({ status: 'done', counts: { completed: 5 } })
    const { tasks } = await server.person.tasks('party')
    expect(tasks.map(({ outcome }) => outcome)).toContain('20 * 15 = 300')
    for (const { outcome, judged_by } of tasks)
      expect([outcome?.includes('Simulated'), judged_by]).toEqual([false, 'assessor'])
  })

  it('[MO1] what it has no tool for is simulated, blocked and not judged done; the turn ends incomplete and says why', async () => {
    const reader = await server.chat({ session_id: 'bob', message: 'Transfer 500 euros to Bob' }, confirmAll)
    expect(await statuses('bob')).toEqual([
      ['Draft a checklist for “transfer 500 euros to Bob”', 'completed'],
      ['Transfer 500 euros to Bob', 'blocked'],
      ['Check that it worked: transfer 500 euros to Bob', 'blocked'],
    ])
    const { tasks } = await server.person.tasks('bob')
    expect(tasks[1]).toMatchObject({ outcome: 'Simulated: the demo model has no tool for this.', judged_by: null })
    expect(finished(reader)?.status).toBe('incomplete')
    expect(lastWords(reader)).toContain(
      '- Transfer 500 euros to Bob (blocked: Simulated: the demo model has no tool for this.)',
    )
  })

  it.each<[string, string, boolean[]]>([
    ['sums', '1. Buy 3 * 4 eggs 2. Transfer 100+400 euros to Bob 3. Compute 3 * 4', [false, false, true]],
    ['sending', '1. Draft and send the invitation 2. Write an email to Ann and send it', [false, false]],
    ['number', '1. Pay the invoice 2. Write down the confirmation number', [false, false]],
    [
      'bugs',
      '1. List my open bugs 2. List the capitals of Europe 3. List the three largest customers',
      [false, false, false],
    ],
    ['names', '1. Read the file notes.txt 2. List the names in it', [false, false]],
    ['report', '1. Compute 1 + 1 2. Pay the invoice 3. Write the report', [true, false, false]],
    [
      'sales',
      '1. Write a report on the 2025 sales figures 2. Draft a letter to my landlord about the broken heating',
      [false, true],
    ],
    ['code', '1. Write the code for the login page 2. Write a test that passes', [false, false]],
    ['haiku', '1. Write a haiku about rain 2. Write a haiku about my cat Tom', [true, true]],
  ])('[MO1] only what was done is completed and judged: %s', async (_, message, done) => {
    const session_id = `only-${done.length}-${message.length}`
    const reader = await server.chat({ session_id, message }, confirmAll)
    const { tasks } = await server.person.tasks(session_id)
    expect(tasks.map(({ status, judged_by }) => [status, judged_by])).toEqual(
      done.map(isDone => (isDone ? ['completed', 'assessor'] : ['blocked', null])),
    )
    expect(finished(reader)?.status).toBe(done.includes(false) ? 'incomplete' : 'done')
    expect(reader.of('task_assessed').every(({ data }) => data.verdict === 'ok')).toBe(true)
  })

  it.each([...examplesOf('english'), ...examplesOf('chinese')])('the example goes well: %s', async message => {
    const session_id = `example-${message.length}-${message.charCodeAt(0)}`
    const reader = await server.chat({ session_id, message }, confirmAll)
    expect(finished(reader)?.status).toBe('done')
    const { tasks } = await server.person.tasks(session_id)
    expect(tasks.length).toBeGreaterThanOrEqual(3)
    expect(tasks.every(({ status, judged_by }) => status === 'completed' && judged_by === 'assessor')).toBe(true)
  })

  it.each([
    ['question', 'What is the capital of France?', 'I cannot answer that.'],
    ['sum', 'What is 17 + 4?', '17 + 4 = 21'],
    ['greeting', 'Hello!', 'Hello!'],
  ])('[MO1] does not plan for a plain %s', async (name, message, words) => {
    const reader = await server.chat({ session_id: `plain-${name}`, message })
    expect(reader.of('tool_called')).toEqual([])
    expect(lastWords(reader).startsWith(words)).toBe(true)
    expect(lastWords(reader).includes(DEMO)).toBe(name !== 'sum')
    expect(finished(reader)).toMatchObject({ status: 'done', steps: 1 })
  })

  it('accepts a rejection', async () => {
    const reader = await server.chat({ session_id: 'no', message: 'Read it. Fix it.' }, () => ({ action: 'cancel' }))
    expect(reader.of('task_create_review_required')).toHaveLength(1)
    expect(await statuses('no')).toEqual([])
    expect(lastWords(reader)).toMatch(/^You rejected the plan, so nothing was written\./)
    expect(finished(reader)?.status).toBe('done')
  })

  it('changes the plan as a person asks, and works on what they then confirm', async () => {
    const message = 'Compute 2 + 3. Send it.'
    const reader = await server.chat({ session_id: 'revise', message }, (review, count) =>
      count === 0 ? { action: 'revise', comment: 'Remove “Send it”, add draft the invitation.' } : confirmed(review),
    )
    expect(drafted(reader, 1)).toEqual(['Compute 2 + 3', 'Draft the invitation'])
    expect(finished(reader)).toMatchObject({ status: 'done', counts: { completed: 2 } })
  })

  it('says so when the review timed out', async () => {
    await server.person.setPolicy('late', { review_timeout_ms: 1_000 })
    const reader = await server.chat({ session_id: 'late', message: 'Read it. Fix it.' })
    expect(lastWords(reader)).toMatch(/^The review timed out, so nothing was written\./)
    expect(finished(reader)?.status).toBe('done')
  })

  it.each<[ToolsetName, string, string, string]>([
    ['runsheet', 'plan', 'blocked', 'incomplete'],
    ['task_manager', 'add_task', 'blocked', 'done'],
    ['turn_todos', 'create_todo', 'cancelled', 'done'],
    ['manage_todos', 'manage_todos', 'blocked', 'incomplete'],
    ['checklist', 'add_multiple_checklist_items', 'pending', 'done'],
    ['task_list', 'AddTask', 'pending', 'done'],
  ])('[MO1] works with %s', async (toolset, tool, undone, status) => {
    const message = 'Send it. Compute 2 + 3. Draft the invitation.'
    const reader = await server.chat({ session_id: `with-${toolset}`, toolset, message }, confirmAll)
    expect(reader.of('tool_answered')[0]?.data).toMatchObject({ tool, ok: true })
    expect(await statuses(`with-${toolset}`)).toEqual([
      ['Send it', undone],
      ['Compute 2 + 3', 'completed'],
      ['Draft the invitation', 'completed'],
    ])
    const { tasks } = await server.person.tasks(`with-${toolset}`)
    expect(tasks[1]?.outcome).toBe('2 + 3 = 5')
    expect(tasks[2]?.outcome).toMatch(/^You are invited\./)
    expect(finished(reader)?.status).toBe(status)
    expect(reader.of('gate_followed')).toEqual([])
    expect(reader.of('todos_resubmitting')).toHaveLength(toolset === 'manage_todos' ? 2 : 0)
  })

  it('a list that is too long for one turn of manage_todos is capped, continued, and finished', async () => {
    const message = Array.from({ length: 8 }, (_, place) => `- Compute ${place} + 1`).join('\n')
    const first = await server.chat({ session_id: 'long', toolset: 'manage_todos', message })
    expect(first.of('todos_limit_reached')).toHaveLength(1)
    expect(finished(first)).toMatchObject({ status: 'incomplete', remaining: 2 })
    const next = { session_id: 'long', turn_id: 't2', message: 'Go on', continue_turn_id: 't1' }
    const second = await server.chat(next)
    expect(finished(second)).toMatchObject({ status: 'done', remaining: 0 })
  })

  it('a plan that was stopped is gone on with, and reported', async () => {
    const reader = await server.open({ session_id: 'halt', message: 'Compute 1 + 1. Compute 2 + 2.' })
    await reader.reached('task_create_review_required')
    const review = reader.of('task_create_review_required')[0]?.data
    if (review) await server.person.decide(review.review_id, confirmed(review))
    await reader.reached('task_created')
    await server.person.stop('halt', 't1')
    await reader.over
    expect(finished(reader)?.status).toBe('stopped')
    const next = { session_id: 'halt', turn_id: 't2', message: 'Please continue', continue_turn_id: 't1' }
    const second = await server.chat(next)
    expect(finished(second)).toMatchObject({ status: 'done', remaining: 0 })
    expect(lastWords(second)).toMatch(/^Finished\./)
  })
})
