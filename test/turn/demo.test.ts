import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ToolsetName } from '../../src/domain/policy.ts'
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

describe.concurrent('the demo model, from the command line, with nothing set', () => {
  it('[MO6] plans what a newcomer asks for, goes by their edits, and finishes', async () => {
    const message = 'Read the report, then write a summary, and finally send it to Anna.'
    const reader = await server.chat({ session_id: 'new', message }, ({ draft_tasks: [first] }) => ({
      action: 'confirm',
      tasks: [
        { title: 'Compute 12 * 7' },
        { title: `${first?.title} twice`, draft_index: 0 },
        { title: 'Send it to Anna', draft_index: 2 },
      ],
      comment: 'Be brief.',
    }))
    expect(drafted(reader)).toEqual(['Read the report', 'Write a summary', 'Send it to Anna'])
    expect(reader.of('turn_started')[0]?.data).toMatchObject({ model: 'demo', policy: { toolset: 'runsheet' } })
    expect(finished(reader)).toMatchObject({ status: 'done', remaining: 0, counts: { completed: 3, blocked: 0 } })
    expect(await statuses('new')).toEqual([
      ['Compute 12 * 7', 'completed'],
      ['Read the report twice', 'completed'],
      ['Send it to Anna', 'completed'],
    ])
    const { tasks } = await server.person.tasks('new')
    expect(tasks.map(({ outcome }) => outcome)[0]).toBe('12 * 7 = 84')
    // The assessor is on, and is the demo model, too.
    expect(reader.of('task_assessed').map(({ data }) => [data.verdict, data.model])).toEqual(
      Array.from({ length: 3 }, () => ['ok', 'demo']),
    )
    const words = lastWords(reader)
    expect(words).toMatch(/^Finished\.\n\n- Compute 12 \* 7: 12 \* 7 = 84\n- Read the report twice: /)
    expect(words).toContain('You said: “Be brief.”.')
    expect(words).toContain(DEMO)
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
    ['Chinese', '首先检查日志，然后修复错误，最后写一份报告。', ['检查日志', '修复错误', '写一份报告']],
  ])('[MO4] splits %s', async (name, message, titles) => {
    const session_id = `split-${name.replaceAll(' ', '-')}`
    const reader = await server.chat({ session_id, message }, confirmAll)
    expect(drafted(reader)).toEqual(titles)
    expect(finished(reader)).toMatchObject({ status: 'done', counts: { completed: titles.length } })
  })

  it.each([
    ['question', 'What is the capital of France?', 'I cannot answer that.'],
    ['sum', 'What is 17 + 4?', '17 + 4 = 21'],
    ['greeting', 'Hello!', 'Hello!'],
  ])('[MO4] does not plan for a plain %s', async (name, message, words) => {
    const reader = await server.chat({ session_id: `plain-${name}`, message })
    expect(reader.of('tool_called')).toEqual([])
    expect(lastWords(reader).startsWith(words)).toBe(true)
    expect(lastWords(reader)).toContain(DEMO)
    expect(finished(reader)).toMatchObject({ status: 'done', steps: 1 })
  })

  it('[MO6] accepts a rejection', async () => {
    const reader = await server.chat({ session_id: 'no', message: 'Read it. Fix it.' }, () => ({ action: 'cancel' }))
    expect(reader.of('task_create_review_required')).toHaveLength(1)
    expect(await statuses('no')).toEqual([])
    expect(lastWords(reader)).toMatch(/^You rejected the plan, so nothing was written\./)
    expect(finished(reader)?.status).toBe('done')
  })

  it('[MO6] proposes what a comment asks for instead', async () => {
    const reader = await server.chat({ session_id: 'but', message: 'Read it. Fix it.' }, (review, count) =>
      count === 0 ? { action: 'cancel', comment: 'Call Anna, then write to Bob instead.' } : confirmed(review),
    )
    expect([drafted(reader), drafted(reader, 1)]).toEqual([
      ['Read it', 'Fix it'],
      ['Call Anna', 'Write to Bob'],
    ])
    expect(await statuses('but')).toEqual([
      ['Call Anna', 'completed'],
      ['Write to Bob', 'completed'],
    ])
    expect(finished(reader)?.status).toBe('done')
  })

  it('[MO6] says so when the review timed out', async () => {
    await server.person.setPolicy('late', { review_timeout_ms: 1_000 })
    const reader = await server.chat({ session_id: 'late', message: 'Read it. Fix it.' })
    expect(lastWords(reader)).toMatch(/^The review timed out, so nothing was written\./)
    expect(finished(reader)?.status).toBe('done')
  })

  it.each<[ToolsetName, string]>([
    ['task_manager', 'add_task'],
    ['turn_todos', 'create_todo'],
    ['manage_todos', 'manage_todos'],
  ])('[MO4] works with %s', async (toolset, tool) => {
    const message = 'Read it. Compute 2 + 3. Send it.'
    const reader = await server.chat({ session_id: `with-${toolset}`, toolset, message }, confirmAll)
    expect(reader.of('tool_answered')[0]?.data).toMatchObject({ tool, ok: true })
    expect(await statuses(`with-${toolset}`)).toEqual([
      ['Read it', 'completed'],
      ['Compute 2 + 3', 'completed'],
      ['Send it', 'completed'],
    ])
    const { tasks } = await server.person.tasks(`with-${toolset}`)
    expect(tasks[1]?.outcome).toBe('2 + 3 = 5')
    expect(finished(reader)).toMatchObject({ status: 'done', remaining: 0 })
    expect(reader.of('todos_resubmitting')).toHaveLength(toolset === 'manage_todos' ? 2 : 0)
  })

  it('[TR19] a list that is too long for one turn of manage_todos is capped, continued, and finished', async () => {
    const message = Array.from({ length: 8 }, (_, place) => `- Step ${place + 1}`).join('\n')
    const first = await server.chat({ session_id: 'long', toolset: 'manage_todos', message })
    expect(first.of('todos_limit_reached')).toHaveLength(1)
    expect(finished(first)).toMatchObject({ status: 'incomplete', remaining: 2 })
    const next = { session_id: 'long', turn_id: 't2', message: 'Go on', continue_turn_id: 't1' }
    const second = await server.chat(next)
    expect(finished(second)).toMatchObject({ status: 'done', remaining: 0 })
  })

  it('[TR19] a plan that was stopped is gone on with, and reported', async () => {
    const reader = await server.open({ session_id: 'halt', message: 'Read it. Fix it.' })
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
    expect(lastWords(second)).toMatch(/^Finished\.\n\n- /)
  })
})
