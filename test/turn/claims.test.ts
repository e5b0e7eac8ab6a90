import { afterEach, describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/model/event.ts'
import type { Task } from '../../src/core/model/task.ts'
import { TOOLSETS } from '../../src/core/model/policy.ts'
import { sealOf } from '../../src/engine/toolsets/settle-call.ts'
import type { Answer } from '../support/provider.ts'
import { confirmAll, startTurns, type ChatReader, type TestTurns } from '../support/turns.ts'

let server: TestTurns | undefined
afterEach(() => server?.close())

async function turns(options: Parameters<typeof startTurns>[0]): Promise<TestTurns> {
  server = await startTurns(options)
  return server
}

const JUDGED = { review: false, assessor: true, gate: false } as const

const call = (tool: string, args: unknown): Answer => ({ calls: [{ tool, args }] })
const plan = (...titles: readonly string[]): Answer => call('plan', { tasks: titles.map(title => ({ title })) })
const update = (id: number, outcome?: string, status?: string): Answer => call('update', { id, outcome, status })

/** The ids of the listed tasks. */
const idsIn = (at: TestTurns): Promise<readonly string[]> => at.tasks().then(tasks => tasks.map(({ id }) => id))

const results = (reader: ChatReader): Json[] => reader.of('tool_answered').map(({ data }) => data.result)
const verdicts = (reader: ChatReader): string[] => reader.of('task_assessed').map(({ data }) => data.verdict)
const endOf = (reader: ChatReader): string | undefined => reader.of('turn_finished')[0]?.data.status

/** The judge by title: what is not named passes. */
const against =
  (reasons: Readonly<Record<string, string>>) =>
  ({ messages }: { readonly messages: readonly { readonly content?: string | null }[] }): string => {
    const text = messages.map(({ content }) => content ?? '').join('\n')
    const title = Object.keys(reasons).find(each => text.includes(each))
    return title === undefined ? 'OK' : `NOT_OK: ${reasons[title]}`
  }

const sealOfTask = ({ title, details, criteria, outcome = '' }: Task): string =>
  sealOf({ title, details, criteria, outcome })

describe('a call with several claims', () => {
  const items = (...titles: readonly string[]): Answer =>
    call('add_multiple_checklist_items', { items: titles.map(title => ({ title })) })
  const tickAll =
    (at: () => TestTurns, more: readonly unknown[] = []) =>
    async (): Promise<Answer> => {
      const ids = await idsIn(at())
      return call('update_checklist_items', { items: [...ids.map(id => ({ id, isChecked: true })), ...more] })
    }

  it('[AS10] asks once for each claim, and an element that is turned down does not cost the others', async () => {
    const ticks = tickAll(() => at, [{ id: 'nowhere', isChecked: true }])
    const script: readonly (Answer | (() => Promise<Answer>))[] = [items('Aa', 'Bb', 'Cc', 'Dd'), ticks, 'All done.']
    const at: TestTurns = await turns({
      answers: async (_, count) => resolve(script[count]),
      assessor: against({ Bb: 'there is no proof' }),
    })
    const reader = await at.chat({ toolset: 'checklist', ...JUDGED })
    expect(at.provider.judged).toHaveLength(4)
    expect(verdicts(reader).toSorted()).toEqual(['not_ok', 'ok', 'ok', 'ok'])
    expect(await at.statuses()).toEqual([
      ['Aa', 'completed'],
      ['Bb', 'pending'],
      ['Cc', 'completed'],
      ['Dd', 'completed'],
    ])
    const [, b] = await at.tasks()
    expect(results(reader)[1]).toMatchObject({
      updatedItems: [{ title: 'Aa' }, { title: 'Cc' }, { title: 'Dd' }],
      failedItems: [
        { id: b?.id, error: expect.stringContaining('there is no proof') },
        { id: 'nowhere', error: expect.stringContaining('with this id') },
      ],
    })
    expect((await state(at)).rejections.get(b?.id ?? '')).toBe(1)
  })

  it('[AS10] of two elements for one item, one claim is judged: on the text that they leave', async () => {
    const twice = async (): Promise<Answer> => {
      const [id] = await idsIn(at)
      const said = [
        { id, isChecked: true },
        { id, title: 'Reworded' },
        { id, isChecked: true },
      ]
      return call('update_checklist_items', { items: said })
    }
    const script = [items('Aa'), twice, 'Done.']
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]) })
    const reader = await at.chat({ toolset: 'checklist', ...JUDGED })
    expect(at.provider.judged).toHaveLength(1)
    expect(at.provider.prompt(0)).toContain('Reworded')
    const [task] = await at.tasks()
    expect(task).toMatchObject({ title: 'Reworded', status: 'completed', judged_by: 'assessor' })
    expect(reader.of('task_assessed')[0]?.data.seal).toBe(task && sealOfTask(task))
  })
})

describe('what is refused anyway', () => {
  it.each([
    ['without an outcome', update(1)],
    ['with an outcome over 8,000 characters', update(1, 'x'.repeat(9_000))],
    ['with an outcome that nobody can see', update(1, '\u200b\u2060\ufeff')],
    ['with an outcome of blank symbols and marks', update(1, '\u2800 \ufff9\u0301\u{1d159}')],
    ['with an id that is not there', update(9, 'did it')],
  ])('[AS1][TA6] a claim %s asks nobody', async (_, claim) => {
    const at = await turns({ answers: [plan('Look'), claim, 'Done.'] })
    const reader = await at.chat(JUDGED)
    expect(at.provider.judged).toEqual([])
    expect(reader.of('tool_answered').map(({ data }) => data.ok)).toEqual([true, false])
    expect(await at.statuses()).toEqual([['Look', 'in_progress']])
  })

  it("[AS1] nor does one on another turn's task", async () => {
    const create = (title: string): Answer => call('create_todo', { items: [{ title }] })
    const foreign = async (): Promise<Answer> =>
      call('complete_todo', { todoId: (await idsIn(at))[0], outcome: 'did it' })
    const script = [create('Old'), 'Later.', create('New'), foreign, 'Done.']
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]) })
    await at.chat({ toolset: 'turn_todos', ...JUDGED })
    const reader = await at.chat({ turn_id: 't2' })
    expect(at.provider.judged).toEqual([])
    expect(results(reader)[1]).toMatchObject({ error: expect.stringContaining('There is no task with this id') })
  })

  it('[AS1] with review on, rewording and settling in one call is refused as a whole', async () => {
    const reworded = async (): Promise<Answer> => {
      const [id] = await idsIn(at)
      return call('update_task', { id, title: 'Easier', status: 'done', outcome: 'did it' })
    }
    const script = [call('add_task', { tasks: [{ title: 'Look' }] }), reworded, 'Done.']
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]) })
    const reader = await at.chat({ toolset: 'task_manager', review: true, assessor: true }, confirmAll)
    expect(at.provider.judged).toEqual([])
    expect(results(reader)[1]).toMatchObject({ ok: false, error: expect.stringContaining('cannot be reworded') })
    expect(await at.statuses()).toEqual([['Look', 'in_progress']])
  })
})

it('with review on, a call that repeats the wording and settles the task is judged', async () => {
  const settled = async (): Promise<Answer> => {
    const [id] = await idsIn(at)
    const same = { title: ' Look ', details: '', priority: 'medium', tags: ['a', 'b'] }
    return call('update_task', { id, ...same, status: 'done', outcome: 'did it' })
  }
  const script = [call('add_task', { tasks: [{ title: 'Look', tags: ['a', 'b'] }] }), settled, 'Done.']
  const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]) })
  const reader = await at.chat({ toolset: 'task_manager', review: true, assessor: true }, confirmAll)
  expect(results(reader)[1]).toMatchObject({ ok: true })
  expect(await at.tasks()).toMatchObject([{ title: 'Look', status: 'completed', judged_by: 'assessor' }])
})

describe('every verdict is recorded', () => {
  it('with its usage and a seal of what was judged', async () => {
    const at = await turns({ answers: [plan('Look'), update(1, 'saw it'), 'Done.'] })
    const reader = await at.chat(JUDGED)
    const [task] = await at.tasks()
    const seal = task && sealOfTask(task)
    expect(seal).toMatch(/^[\da-f]{64}$/)
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
    expect(reader.of('task_assessed').map(({ data }) => data)).toMatchObject([{ verdict: 'ok', usage, seal }])
  })

  it('on a text with half a surrogate pair or 9,000 characters', async () => {
    const texts = [`Did it \ud83d.`, 'x'.repeat(9_000)]
    const at = await turns({ answers: [call('manage_todos', { add: ['Aa', 'Bb'] }), ...texts] })
    const reader = await at.chat({ toolset: 'manage_todos' })
    expect(at.provider.judged).toHaveLength(2)
    expect(verdicts(reader)).toEqual(['ok', 'ok'])
    const tasks = await at.tasks()
    expect(tasks.map(({ outcome }) => outcome)).toEqual(['Did it \ufffd.', 'x'.repeat(8_000)])
    expect(reader.of('task_assessed').map(({ data }) => data.seal)).toEqual(tasks.map(sealOfTask))
    expect(endOf(reader)).toBe('done')
  })

  it('on what was created as done', async () => {
    const at = await turns({ answers: [call('add_task', { tasks: [{ title: 'Look', status: 'done' }] }), 'Done.'] })
    const reader = await at.chat({ toolset: 'task_manager', ...JUDGED })
    const [task] = await at.tasks()
    expect(task).toMatchObject({ status: 'completed', judged_by: 'assessor' })
    expect(reader.of('task_assessed').map(({ data }) => [data.task_id, data.verdict, data.seal])).toEqual([
      [task?.id, 'ok', task && sealOfTask(task)],
    ])
  })

  /** A judge who takes as long as the test needs. */
  async function whileJudged(answers: readonly Answer[], meanwhile: (at: TestTurns) => Promise<unknown>, said = 'OK') {
    const settled = Promise.withResolvers<void>()
    const at = await turns({
      answers,
      assessor: (_, count) => (count === 0 ? { text: said, after: settled.promise } : 'OK'),
    })
    const reader = await at.open(JUDGED)
    await at.provider.until(({ judged }) => judged.length >= 1)
    await meanwhile(at)
    settled.resolve()
    await reader.over
    return { at, reader }
  }

  it('on a task that a person edited meanwhile: it grants and counts nothing', async () => {
    const { at, reader } = await whileJudged(
      [plan('Look'), update(1, 'saw it'), 'Done.'],
      async at => {
        const [task] = await at.tasks()
        await at.person.changeTask('c1', task?.id ?? '', task?.version ?? 0, { title: 'Look twice' })
      },
      'NOT_OK: not looked',
    )
    expect(reader.of('task_assessed').map(({ data }) => data)).toMatchObject([{ verdict: 'not_ok', fenced: true }])
    expect(results(reader)[1]).toMatchObject({ error: expect.stringContaining('A person changed task 1') })
    expect(await at.statuses()).toEqual([['Look twice', 'in_progress']])
    expect((await state(at)).rejections.size).toBe(0)
  })

  it('on a task that a person removed meanwhile', async () => {
    const { at, reader } = await whileJudged([plan('Look'), update(1, 'saw it'), 'Done.'], async at => {
      const [task] = await at.tasks()
      await at.person.removeTask('c1', task?.id ?? '', task?.version ?? 0)
    })
    expect(verdicts(reader)).toEqual(['ok'])
    expect(results(reader)[1]).toMatchObject({ error: expect.stringContaining('There is no task with this id') })
    expect(await at.tasks()).toEqual([])
  })

  it('on new tasks that there is no room for any more', async () => {
    const done = call('add_task', { tasks: [{ title: 'Look', status: 'done' }] })
    const settled = Promise.withResolvers<void>()
    const at = await turns({ answers: [done, 'Done.'], assessor: [{ text: 'OK', after: settled.promise }] })
    const reader = await at.open({ toolset: 'task_manager', ...JUDGED })
    await at.provider.until(({ judged }) => judged.length >= 1)
    await fill(at)
    settled.resolve()
    await reader.over
    expect(verdicts(reader)).toEqual(['ok'])
    expect(results(reader)[0]).toMatchObject({ ok: false, error: expect.stringContaining('at most 1000 open tasks') })
  })

  it('in a turn that is stopped before the last claim is judged', async () => {
    const items = call('add_multiple_checklist_items', { items: [{ title: 'Aa' }, { title: 'Bb' }] })
    const ticks = async (): Promise<Answer> =>
      call('update_checklist_items', { items: (await idsIn(at)).map(id => ({ id, isChecked: true })) })
    const script = [items, ticks]
    const at: TestTurns = await turns({
      answers: async (_, count) => resolve(script[count]),
      assessor: (_, count) => (count === 0 ? 'OK' : { text: '', hangs: true, after: new Promise(() => undefined) }),
    })
    const reader = await at.open({ toolset: 'checklist', ...JUDGED })
    await at.provider.until(({ judged }) => judged.length >= 2)
    await at.person.stop('c1', 't1')
    await reader.over
    expect(verdicts(reader)).toEqual(['ok'])
    expect(endOf(reader)).toBe('stopped')
    expect((await at.statuses()).map(([, status]) => status)).toEqual(['pending', 'pending'])
  })

  it.each([
    { toolset: 'runsheet', answers: [plan('Look'), update(1, 'saw it')] },
    { toolset: 'manage_todos', answers: [call('manage_todos', { add: ['Look'] }), 'I saw it.'] },
  ] as const)('$toolset: in a turn that is stopped while an unclear judge is asked again', async scene => {
    const { toolset, answers } = scene
    const again = { text: '', hangs: true, after: new Promise(() => undefined) }
    const at = await turns({ answers, assessor: (_, count) => (count === 0 ? 'Maybe' : again) })
    const reader = await at.open({ toolset, ...JUDGED })
    await at.provider.until(({ judged }) => judged.length >= 2)
    await at.person.stop('c1', 't1')
    await reader.over
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
    expect(reader.of('task_assessed').map(({ data }) => data)).toMatchObject([{ verdict: 'unknown', usage }])
    expect(reader.of('turn_finished')[0]?.data).toMatchObject({
      status: 'stopped',
      usage: { input_tokens: 30, output_tokens: 15, total_tokens: 45 },
    })
    expect(await at.statuses()).toEqual([['Look', 'in_progress']])
  })
})

describe('what was turned down', () => {
  const NO = 'NOT_OK: there is no proof'

  it('[AS9] is not deleted once it is blocked, and the turn is not done', async () => {
    const todos = (args: unknown): Answer => call('manage_todos', args)
    const at = await turns({
      answers: [todos({ add: ['Aa', 'Bb'] }), 'Did it.', 'Did it!', todos({ delete: [1, 2] }), 'All done.'],
      assessor: [NO, NO, 'OK'],
    })
    const reader = await at.chat({ toolset: 'manage_todos' })
    expect(results(reader)[1]).toMatchObject({ success: false, error: expect.stringContaining('cannot be deleted') })
    expect(await at.statuses()).toEqual([
      ['Aa', 'blocked'],
      ['Bb', 'completed'],
    ])
    expect(endOf(reader)).toBe('incomplete')
  })

  it.each([
    {
      toolset: 'task_list',
      add: call('AddTask', { title: 'Aa' }),
      claim: () => call('CompleteTask', { taskId: '1' }),
      remove: () => call('DeleteTask', { taskId: '1' }),
    },
    {
      toolset: 'task_manager',
      add: call('add_task', { tasks: [{ title: 'Aa' }] }),
      claim: (id?: string) => call('complete_task', { id, outcome: 'x' }),
      remove: (id?: string) => call('delete_task', { id }),
    },
  ] as const)("[AS9] $toolset: is not a model's to delete", async ({ toolset, add, claim, remove }) => {
    const script = [add, async () => claim((await idsIn(at))[0]), async () => remove((await idsIn(at))[0]), 'Done.']
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]), assessor: [NO] })
    const reader = await at.chat({ toolset, ...JUDGED })
    expect(results(reader)[2]).toMatchObject({ ok: false, error: expect.stringContaining('cannot be deleted') })
    expect(await at.statuses()).toEqual([['Aa', TOOLSETS[toolset].captures ? 'pending' : 'in_progress']])
  })

  it('[AS9] is not reworded into something that passes', async () => {
    const tick = async (fields: object): Promise<Answer> => {
      const [id] = await idsIn(at)
      return call('update_checklist_items', { items: [{ id, isChecked: true, ...fields }] })
    }
    const items = call('add_multiple_checklist_items', { items: [{ title: 'All tests pass' }] })
    const script = [items, () => tick({}), () => tick({ title: 'Looked at the tests' }), 'All done.']
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]), assessor: [NO, 'OK'] })
    const reader = await at.chat({ toolset: 'checklist', ...JUDGED })
    expect(at.provider.judged).toHaveLength(1)
    expect(results(reader)[2]).toMatchObject({
      failedItems: [{ error: expect.stringContaining('cannot be reworded') }],
    })
    expect(await at.statuses()).toEqual([['All tests pass', 'pending']])
    expect(endOf(reader)).toBe('incomplete')
  })

  it('[AS9] a claim that rewords the task and is turned down is told why', async () => {
    const claim = async (): Promise<Answer> =>
      call('update_task', { id: (await idsIn(at))[0], title: 'Glance', status: 'done', outcome: 'saw it' })
    const script = [call('add_task', { tasks: [{ title: 'Look' }] }), claim, 'Done.']
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]), assessor: [NO] })
    const reader = await at.chat({ toolset: 'task_manager', ...JUDGED })
    expect(results(reader)[1]).toMatchObject({ ok: false, error: expect.stringContaining('there is no proof') })
    expect(await at.statuses()).toEqual([['Look', 'in_progress']])
  })

  it('claim, block, reopen, claim: the second rejection blocks the task', async () => {
    const at = await turns({
      answers: [
        plan('Look'),
        update(1, 'saw it'),
        update(1, 'no light', 'blocked'),
        update(1, undefined, 'doing'),
        update(1, 'saw it'),
        'Done.',
      ],
      assessor: [NO, NO],
    })
    const reader = await at.chat(JUDGED)
    expect(await at.tasks()).toMatchObject([{ status: 'blocked', outcome: 'there is no proof', judged_by: 'assessor' }])
    expect(results(reader).at(-1)).toMatchObject({
      error: 'Task 1 was not accepted: there is no proof. It is blocked now.',
    })
  })

  it('claim, block, claim: the reason replaces what the model said about the block', async () => {
    const claims = [update(1, 'saw it'), update(1, 'no light', 'blocked'), update(1, 'saw it')]
    const at = await turns({ answers: [plan('Look'), ...claims, 'Done.'], assessor: [NO, NO] })
    await at.chat(JUDGED)
    expect(await at.tasks()).toMatchObject([{ status: 'blocked', outcome: 'there is no proof', judged_by: 'assessor' }])
  })

  it('is not called not accepted if nobody judged it', async () => {
    const at = await turns({ answers: [plan('Look'), update(1, 'saw it'), 'Done.'], assessor: () => ({ status: 400 }) })
    const reader = await at.chat(JUDGED)
    expect(results(reader)[1]).toMatchObject({
      error: expect.stringMatching(/^Task 1 was not assessed\. The assessor could not be reached\. /),
    })
  })

  it('task_list, which has no word for blocked, is told the reason only', async () => {
    const complete = call('CompleteTask', { taskId: '1' })
    const at = await turns({
      answers: [call('AddTask', { title: 'Look' }), complete, complete, 'Done.'],
      assessor: [NO, NO],
    })
    const reader = await at.chat({ toolset: 'task_list', ...JUDGED })
    expect(results(reader)[2]).toEqual({ ok: false, error: 'Task 1 was not accepted: there is no proof.' })
  })

  it('for a reason that nobody can see is told so', async () => {
    const at = await turns({ answers: [plan('Look'), update(1, 'saw it'), 'Done.'], assessor: ['NOT_OK: \u200b'] })
    const reader = await at.chat(JUDGED)
    const reason = 'The assessor gave no reason.'
    expect(reader.of('task_assessed')[0]?.data).toMatchObject({ verdict: 'not_ok', reason })
    expect(results(reader)[1]).toMatchObject({ error: `Task 1 was not accepted: ${reason}` })
  })

  it('the rejection that blocks a task is told with its reason', async () => {
    const complete = async (): Promise<Answer> =>
      call('complete_todo', { todoId: (await idsIn(at))[0], outcome: 'saw it' })
    const script = [call('create_todo', { items: [{ title: 'Look' }] }), complete, complete, 'Done.']
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]), assessor: [NO, NO] })
    const reader = await at.chat({ toolset: 'turn_todos', ...JUDGED })
    expect(results(reader).at(-1)).toMatchObject({ error: expect.stringContaining('there is no proof') })
    expect(await at.tasks()).toMatchObject([{ status: 'blocked', outcome: 'there is no proof' }])
  })

  it('[AS1] what passes is answered as settled, where a tool refuses settled tasks', async () => {
    const complete = async (): Promise<Answer> =>
      call('complete_todo', { todoId: (await idsIn(at))[0], outcome: 'saw it' })
    const script = [call('create_todo', { items: [{ title: 'Look' }] }), complete, 'Done.']
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]) })
    const reader = await at.chat({ toolset: 'turn_todos', ...JUDGED })
    expect(results(reader).at(-1)).toMatchObject({ status: 'completed', outcome: 'saw it', remaining: 0 })
  })

  it('[CM3] has one more claim after the block; then nobody is asked, also in a turn that goes on with it', async () => {
    const claim = update(1, 'saw it')
    const at = await turns({
      answers: [plan('Look'), claim, claim, claim, claim, update(1, undefined, 'todo'), 'Later.', claim, 'Done.'],
      assessor: [NO, NO, NO],
    })
    const first = await at.chat(JUDGED)
    expect(at.provider.judged).toHaveLength(3)
    expect(results(first)[4]).toMatchObject({ error: expect.stringContaining('turned down 3 times by the assessor') })
    const second = await at.chat({ turn_id: 't2', continue_turn_id: 't1' })
    expect(at.provider.judged).toHaveLength(3)
    expect(results(second)[0]).toMatchObject({ error: expect.stringContaining('turned down 3 times by the assessor') })
    expect(endOf(second)).toBe('incomplete')
  })

  it('[CM3] a person who changes the task gives the model new claims', async () => {
    const claim = update(1, 'saw it')
    const at = await turns({
      answers: [plan('Look'), claim, claim, claim, update(1, undefined, 'todo'), 'Later.', claim, 'Done.'],
      assessor: [NO, NO, NO, 'OK'],
    })
    await at.chat(JUDGED)
    const [task] = await at.tasks()
    await at.person.changeTask('c1', task?.id ?? '', task?.version ?? 0, { criteria: 'A glance is enough' })
    const second = await at.chat({ turn_id: 't2', continue_turn_id: 't1' })
    expect(endOf(second)).toBe('done')
    expect(await at.tasks()).toMatchObject([{ status: 'completed', judged_by: 'assessor' }])
  })

  it('[TA14] and then passes does not keep the objection as its outcome', async () => {
    const complete = { calls: [{ tool: 'CompleteTask', args: { taskId: '1' } }] }
    const at = await turns({
      answers: [call('AddTask', { title: 'Aa' }), complete, complete, complete, 'Done.'],
      assessor: [NO, NO, 'OK'],
    })
    await at.chat({ toolset: 'task_list', ...JUDGED })
    const [task] = await at.tasks()
    expect(task).toMatchObject({ status: 'completed', judged_by: 'assessor' })
    expect(task).not.toHaveProperty('outcome')
  })

  it('but has what the model said, where it said something', async () => {
    const complete = { calls: [{ tool: 'CompleteTask', args: { taskId: '1' } }] }
    const at = await turns({
      answers: [
        call('AddTask', { title: 'Aa' }),
        complete,
        complete,
        { text: 'Here is the proof.', ...complete },
        'Done.',
      ],
      assessor: [NO, NO, 'OK'],
    })
    await at.chat({ toolset: 'task_list', ...JUDGED })
    expect(await at.tasks()).toMatchObject([{ status: 'completed', outcome: 'Here is the proof.' }])
  })
})

describe('created as done and turned down', () => {
  it('the answer says why: checklist', async () => {
    const sent = { items: [{ title: 'Aa', isChecked: true }, { title: 'Bb', isChecked: true }, { title: 'Cc' }] }
    const at = await turns({
      answers: [call('add_multiple_checklist_items', sent), 'Done.'],
      assessor: against({ Bb: 'there is no proof' }),
    })
    const reader = await at.chat({ toolset: 'checklist', ...JUDGED })
    expect(at.provider.judged).toHaveLength(2)
    const [, b] = await at.tasks()
    expect(results(reader)).toMatchObject([
      {
        createdItems: [{ isChecked: true }, { isChecked: false }, { isChecked: false }],
        notAccepted: [{ id: b?.id, reason: 'there is no proof' }],
      },
    ])
    expect((await state(at)).rejections.get(b?.id ?? '')).toBe(1)
  })

  it('the answer says why: task_manager', async () => {
    const at = await turns({
      answers: [call('add_task', { tasks: [{ title: 'Aa', status: 'done' }, { title: 'Bb' }] }), 'Done.'],
      assessor: ['NOT_OK: there is no proof'],
    })
    const reader = await at.chat({ toolset: 'task_manager', ...JUDGED })
    const [a] = await at.tasks()
    expect(a).toMatchObject({ status: 'in_progress', judged_by: null })
    expect(results(reader)).toMatchObject([{ not_accepted: [{ id: a?.id, reason: 'there is no proof' }] }])
  })
})

describe('after the verdict', () => {
  const reword =
    (fields: object) =>
    async (at: TestTurns): Promise<Answer> =>
      call('update_task', { id: (await idsIn(at))[0], ...fields })

  it.each([{ title: 'Glance' }, { details: 'quickly' }, { outcome: 'saw nothing' }])(
    'a model that changes %o loses the verdict',
    async fields => {
      const script = [
        call('add_task', { tasks: [{ title: 'Look' }] }),
        () => reword({ status: 'done', outcome: 'saw it' })(at),
        () => reword(fields)(at),
        'Done.',
      ]
      const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]) })
      await at.chat({ toolset: 'task_manager', ...JUDGED })
      expect(await at.tasks()).toMatchObject([{ status: 'completed', ...fields, judged_by: null }])
    },
  )

  it('[TA19] what a person settled is not deleted', async () => {
    const remove = async (): Promise<Answer> => call('delete_task', { id: (await idsIn(at))[0] })
    const script = [call('add_task', { tasks: [{ title: 'Look' }] }), 'Over to you.', remove, 'Done.']
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]) })
    await at.chat({ toolset: 'task_manager', ...JUDGED })
    const [task] = await at.tasks()
    await at.person.changeTask('c1', task?.id ?? '', task?.version ?? 0, { status: 'completed' })
    const reader = await at.chat({ turn_id: 't2' })
    expect(results(reader)).toMatchObject([{ ok: false, error: expect.stringContaining('A person settled task') }])
    expect(await at.tasks()).toMatchObject([{ title: 'Look', status: 'completed', judged_by: 'person' }])
  })

  it('[TA19] what a person settled keeps its words', async () => {
    const script = [
      call('add_task', { tasks: [{ title: 'Look' }] }),
      'Over to you.',
      () => reword({ title: 'Glance' })(at),
      () => reword({ outcome: 'I did it' })(at),
      'Done.',
    ]
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]) })
    await at.chat({ toolset: 'task_manager', ...JUDGED })
    const [task] = await at.tasks()
    await at.person.changeTask('c1', task?.id ?? '', task?.version ?? 0, { status: 'completed', outcome: 'I looked' })
    const reader = await at.chat({ turn_id: 't2' })
    expect(results(reader)).toMatchObject([
      { ok: false, error: expect.stringContaining('its title stays as it is') },
      { ok: false, error: expect.stringContaining('its outcome stays as it is') },
    ])
    expect(await at.tasks()).toMatchObject([{ title: 'Look', outcome: 'I looked', judged_by: 'person' }])
  })
})

describe('a plan that a model emptied', () => {
  const NOTHING_DONE = 'Not done: tasks were removed from the plan, and none was completed.'
  const todos = (args: unknown): Answer => call('manage_todos', args)

  it('does not end done', async () => {
    const at = await turns({ answers: [todos({ add: ['Aa', 'Bb'] }), todos({ delete: [1, 2] }), 'All done.'] })
    const reader = await at.chat({ toolset: 'manage_todos' })
    expect(at.provider.judged).toEqual([])
    expect(reader.of('turn_finished')[0]?.data).toMatchObject({ status: 'incomplete', counts: { removed: 2, open: 0 } })
    expect(reader.of('message_added').at(-1)?.data.text).toContain(NOTHING_DONE)
  })

  it('nor does it if the rest was cancelled', async () => {
    const onFirst = async (tool: string, args: object): Promise<Answer> =>
      call(tool, { id: (await idsIn(at))[0], ...args })
    const script = [
      call('add_task', { tasks: [{ title: 'Aa' }, { title: 'Bb' }] }),
      () => onFirst('delete_task', {}),
      () => onFirst('update_task', { status: 'cancelled' }),
      'All done.',
    ]
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]) })
    const reader = await at.chat({ toolset: 'task_manager', review: false, assessor: false, gate: true })
    expect(reader.of('turn_finished')[0]?.data).toMatchObject({
      status: 'incomplete',
      counts: { completed: 0, cancelled: 1, removed: 1, open: 0 },
    })
    expect(reader.of('message_added').at(-1)?.data.text).toContain(NOTHING_DONE)
  })

  it('nor does it if it was cancelled whole', async () => {
    const script = [
      call('add_task', { tasks: [{ title: 'Aa' }] }),
      async () => call('update_task', { id: (await idsIn(at))[0], status: 'cancelled', outcome: 'Not needed.' }),
      'All done.',
    ]
    const at: TestTurns = await turns({ answers: async (_, count) => resolve(script[count]) })
    const reader = await at.chat({ toolset: 'task_manager', review: false, assessor: false, gate: true })
    expect(endOf(reader)).toBe('incomplete')
    expect(reader.of('message_added').at(-1)?.data.text).toContain('Not done: all tasks were cancelled.')
  })

  it('ends done if something was done', async () => {
    const at = await turns({ answers: [todos({ add: ['Aa', 'Bb'] }), todos({ delete: [2] }), 'Did A.'] })
    expect(endOf(await at.chat({ toolset: 'manage_todos' }))).toBe('done')
  })
})

const state = (at: TestTurns) => at.door.read({ tenant: 'local', conversation: 'c1' })

const resolve = async (answer: Answer | (() => Promise<Answer>) | undefined): Promise<Answer> =>
  typeof answer === 'function' ? answer() : (answer ?? { status: 400 })

/** As many open tasks as a conversation may have. */
async function fill(at: TestTurns): Promise<void> {
  const create = Array.from({ length: 20 }, (_, index) => ({ title: `Filler ${index}` }))
  for (let batch = 0; batch < 50; batch += 1) {
    const rows = create.map(row => ({ ...row, id: at.door.newId() }))
    await at.door.run({ tenant: 'local', conversation: 'c1' }, { type: 'edit_tasks', by: 'person', create: rows })
  }
}
