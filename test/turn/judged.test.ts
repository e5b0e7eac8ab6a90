import { afterEach, describe, expect, it } from 'vitest'
import { startTurns, type TestTurns } from '../support/turns.ts'

let server: TestTurns | undefined
afterEach(() => server?.close())

async function turns(options: Parameters<typeof startTurns>[0]): Promise<TestTurns> {
  server = await startTurns(options)
  return server
}

const add = (...titles: readonly string[]) => ({ calls: [{ tool: 'manage_todos', args: { add: titles } }] })
const judgedTasks = ({ provider }: TestTurns): string[] =>
  provider.judged.map((_, count) => /The task: (.*)/.exec(provider.prompt(count))?.[1] ?? '')

describe('what is judged', () => {
  it('[JU8] a text is the claim for the task that the model was given, whatever a person settles meanwhile', async () => {
    const settled = Promise.withResolvers<void>()
    const at = await turns({
      answers: [add('A', 'B', 'C'), { text: 'I did A.', after: settled.promise }, 'I did B.', 'I did C.'],
    })
    const reader = await at.open({ toolset: 'manage_todos' })
    await at.provider.until(({ asked }) => asked.length >= 2)
    const [a] = (await at.person.tasks('c1')).tasks
    await at.person.changeTask('c1', a?.id ?? '', a?.version ?? 0, { status: 'completed' })
    settled.resolve()
    await reader.over
    expect(judgedTasks(at)).toEqual(['B', 'C'])
    const { tasks } = await at.person.tasks('c1')
    expect(tasks.map(({ title, outcome, judged_by }) => [title, outcome, judged_by])).toEqual([
      ['A', undefined, 'person'],
      ['B', 'I did B.', 'assessor'],
      ['C', 'I did C.', 'assessor'],
    ])
    expect(reader.of('turn_finished')[0]?.data.status).toBe('done')
  })

  it('[JU8][AS7] the verdict on a task removed while it is judged is recorded, and the next one is taken up', async () => {
    const removed = Promise.withResolvers<void>()
    const at = await turns({
      answers: [add('A', 'B'), 'I did A.', 'I did B.'],
      assessor: (_, count) => (count === 0 ? { text: 'OK', after: removed.promise } : 'OK'),
    })
    const reader = await at.open({ toolset: 'manage_todos' })
    await at.provider.until(({ judged }) => judged.length >= 1)
    const [a] = (await at.person.tasks('c1')).tasks
    await at.person.removeTask('c1', a?.id ?? '', a?.version ?? 0)
    removed.resolve()
    await reader.over
    expect(judgedTasks(at)).toEqual(['A', 'B'])
    expect(reader.of('task_assessed').map(({ data }) => data.task_id)).toContain(a?.id)
    expect((await at.person.tasks('c1')).tasks).toMatchObject([{ title: 'B', outcome: 'I did B.' }])
    expect(reader.of('turn_finished')[0]?.data.status).toBe('done')
  })

  it('[HT18] the timeline of a task holds what happened to it, and no steps of the turn', async () => {
    const at = await turns({ answers: [add('A'), 'I did A.'] })
    await at.chat({ toolset: 'manage_todos' })
    const [task] = (await at.person.tasks('c1')).tasks
    const { events } = await at.person.timeline('c1', task?.id)
    expect(events.map(({ type }) => type)).toEqual(['task_created', 'task_assessed', 'task_changed'])
  })

  it('[JU1] the assessor sees the newest of a long text', async () => {
    const long = (name: string): string => `${name} ${'x'.repeat(4_000)}`
    const at = await turns({ answers: [add('A', 'B', 'C'), long('FIRST'), long('SECOND'), long('THIRD')] })
    await at.chat({ toolset: 'manage_todos' })
    expect(at.provider.prompt(2)).toContain('THIRD')
    expect(at.provider.prompt(2).length).toBeLessThan(40_000)
  })

  it('[JU1] the assessor sees what was done in the turn that this one goes on with', async () => {
    const at = await turns({
      outside: [
        {
          name: 'measure',
          description: 'Measures.',
          inputSchema: { type: 'object', properties: {} },
          isRepeatable: true,
          call: async () => 'forty-two',
        },
      ],
      host: { review: false },
      answers: [
        { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Measure it' }] } }] },
        { text: 'EVIDENCE', calls: [{ tool: 'measure', args: {} }] },
        { status: 400 },
        { calls: [{ tool: 'update', args: { id: 1, outcome: 'Measured.' } }] },
        'All done.',
      ],
    })
    expect((await at.chat({ turn_id: 't1' })).of('turn_finished')[0]?.data.status).toBe('failed')
    const again = await at.chat({ turn_id: 't2', continue_turn_id: 't1' })
    expect(at.provider.prompt(0)).toContain('measure({}) answered: forty-two')
    expect(at.provider.prompt(0)).toContain('EVIDENCE')
    expect(again.of('turn_finished')[0]?.data.status).toBe('done')
  })

  it('[JU7][AS9] a rejected task cannot be deleted', async () => {
    const at = await turns({
      answers: [add('A'), 'Did it.', { calls: [{ tool: 'manage_todos', args: { delete: [1] } }] }, 'Did it well.'],
      assessor: ['NOT_OK: no proof', 'OK'],
    })
    const reader = await at.chat({ toolset: 'manage_todos' })
    expect(reader.of('tool_answered')[1]?.data.result).toMatchObject({
      success: false,
      error: expect.stringContaining('cannot be deleted'),
    })
    expect(await at.statuses()).toEqual([['A', 'completed']])
  })
})

describe('an outcome that the tools have no field for', () => {
  it('[JU6] is what the model last said', async () => {
    const at = await turns({
      answers: [
        { calls: [{ tool: 'AddTask', args: { title: 'A' } }] },
        { text: 'Looked at all of it.', calls: [{ tool: 'CompleteTask', args: { taskId: '1' } }] },
        'All done.',
      ],
    })
    await at.chat({ toolset: 'task_list', review: false })
    expect(await at.tasks()).toMatchObject([{ status: 'completed', outcome: 'Looked at all of it.' }])
  })
})

describe('what is told', () => {
  it('[TR30] an answer that was cut off for its length says so', async () => {
    const at = await turns({ answers: [{ text: 'Once upon a', finish: 'length' }] })
    const reader = await at.chat()
    expect(reader.of('message_added').at(-1)?.data.text).toMatch(/^Once upon a\n\nThe answer was cut off here/)
  })

  it('[TR14] a failed turn names what is open, even without assessor and gate', async () => {
    const at = await turns({
      answers: [{ calls: [{ tool: 'AddTask', args: { title: 'Left behind' } }] }, { status: 400 }],
    })
    const reader = await at.chat({ toolset: 'task_list' })
    expect(reader.of('message_added').at(-1)?.data.text).toContain('Not done:\n- Left behind')
  })

  it('[TR7] what a process that died was writing is not shown again', async () => {
    const at = await turns({ answers: [{ text: 'Fresh.', pace: 1 }], isIdle: true })
    await at.door.run(
      { tenant: 'local', conversation: 'c1' },
      { type: 'start_turn', turn_id: 't1', message_id: 'm1', message: 'Go', model: 'openai-compatible:test' },
    )
    await at.door.liveText.write(
      { tenant: 'local', conversation: 'c1' },
      { turn_id: 't1', message_id: 'ghost', text: 'GHOST' },
    )
    at.runner.start()
    await expect.poll(async () => (await at.person.session('c1')).turns[0]?.status).toBe('done')
    expect(await at.door.liveText.read({ tenant: 'local', conversation: 'c1' })).toBeUndefined()
  })
})
