import { describe, expect, it } from 'vitest'
import { dataOf, type Driver, inRun, outside, START } from '../../../test/support/domain.ts'
import { NEXT, STATUSES, type TaskStatus } from '../model/task.ts'

const LATER = '2026-11-02T09:00:01.000Z'

describe('a status', () => {
  /** A task that a person has put into that status, beside another that is current. */
  const withTask = (status: TaskStatus): Driver => {
    const chat = inRun()
    chat.run(chat.adds('person', 'Other', { title: 'A', ...(status === 'cancelled' ? {} : { status }) }))
    if (status === 'cancelled') chat.run(chat.sets('person', 2, { status }))
    return chat
  }
  const pairs = STATUSES.flatMap(from => STATUSES.filter(to => to !== from).map(to => [from, to] as const))

  it.each(pairs.filter(([from, to]) => NEXT[from].includes(to)))('[TA1] %s may become %s', (from, to) => {
    const chat = withTask(from)
    chat.run(chat.sets('person', 2, { status: to }))
    expect(chat.task(2).status).toBe(to)
  })

  it.each(pairs.filter(([from, to]) => !NEXT[from].includes(to)))('[TA1] %s may not become %s', (from, to) => {
    const chat = withTask(from)
    const refusal = chat.refusal(chat.sets('person', 2, { status: to }))
    expect(refusal.code).toBe('status_not_allowed')
    expect(refusal.message).toContain(`Task 2 is ${from} and cannot become ${to}; it can become pending.`)
    expect(refusal.message).toContain('Reopen it first: set it to pending.')
    expect(chat.refusal(chat.sets('model', 2, { status: to, outcome: 'x' }, { basis: 99 })).code).toBe(
      'status_not_allowed',
    )
  })

  it.each(STATUSES)('[TA1] %s again is a success without an event', status => {
    const chat = withTask(status)
    expect(chat.run(chat.sets('person', 2, { status }))).toEqual([])
    expect(chat.run(chat.sets('model', 2, { status }, { basis: 99 }))).toEqual([])
  })

  it('[TA1] completed again by a person puts it on their word', () => {
    const chat = inRun()
    chat.run(chat.adds('model', { title: 'A', status: 'completed', outcome: 'x' }))
    expect(chat.run(chat.sets('person', 1, { status: 'completed' })).map(({ type }) => type)).toEqual(['task_changed'])
    expect(chat.task(1)).toMatchObject({ status: 'completed', judged_by: 'person', outcome: 'x' })
    expect(chat.run(chat.sets('person', 1, { status: 'completed' }))).toEqual([])
  })

  it('[TA1] the same words again are no event either, and no new version', () => {
    const chat = inRun()
    chat.run(chat.adds('model', { title: 'A', tags: ['x', 'y'], details: 'd' }))
    expect(
      chat.run(chat.sets('person', 1, { title: ' A ', tags: ['x', 'y', 'x'], details: 'd', position: 1 })),
    ).toEqual([])
    expect(chat.task(1).version).toBe(1)
  })

  it('refuses a settled task where the caller asked for an open one', () => {
    const chat = inRun()
    chat.run(chat.adds('model', { title: 'A', status: 'completed' }, 'B'))
    const settled = chat.refusal(chat.sets('model', 1, { status: 'completed', outcome: 'x' }, { if_open: true }))
    expect([settled.code, settled.data]).toMatchObject(['task_settled', { row: 0 }])
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'x' }, { if_open: true }))
  })

  it.each(['completed', 'blocked'] as const)('[TA4] %s by a model needs an outcome', status => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    for (const outcome of [undefined, '', ' \n ']) {
      const refusal = chat.refusal(chat.sets('model', 1, { status, outcome }))
      expect([refusal.code, refusal.data]).toMatchObject(['outcome_required', { row: 0, field: 'outcome' }])
    }
    chat.run(chat.sets('model', 1, { status, outcome: 'because' }))
    expect(chat.task(1)).toMatchObject({ status, outcome: 'because', judged_by: null })
  })

  it('[TA4] an outcome that an open task has already will do; that of a blocked one will not', () => {
    const chat = inRun()
    chat.run(
      chat.adds('model', { title: 'A', outcome: 'all but done' }, { title: 'B', status: 'blocked', outcome: 'no key' }),
    )
    chat.run(chat.sets('model', 1, { status: 'completed' }))
    expect(chat.refusal(chat.sets('model', 2, { status: 'completed' })).code).toBe('outcome_required')
  })

  it('[TA4] cancelled by a model needs none', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('model', 1, { status: 'cancelled' }))
    expect(chat.task(1).status).toBe('cancelled')
  })

  it.each(['checklist', 'task_list'] as const)('[TA4] none is needed in %s, which has no place for one', toolset => {
    const chat = outside(toolset)
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run(chat.sets('model', 1, { status: 'completed' }))
    chat.run(chat.sets('model', 2, { status: 'blocked' }))
    expect(chat.statuses()).toEqual(['completed', 'blocked'])
  })

  it('[TA4] nor in manage_todos', () => {
    const chat = outside('manage_todos')
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('model', 1, { status: 'completed' }))
    expect(chat.task(1).status).toBe('completed')
  })

  it('[TA4] a person needs none, nor does a file', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run(chat.sets('person', 1, { status: 'blocked' }))
    chat.run(chat.sets('file', 2, { status: 'completed' }))
    expect(chat.statuses()).toEqual(['blocked', 'completed'])
  })

  it('started_at is when it was last taken up', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    chat.wait(1_000).run(chat.sets('model', 2, { status: 'in_progress' }))
    expect([chat.task(1).started_at, chat.task(2).started_at]).toEqual([START, LATER])
    chat.wait(1_000).run(chat.sets('model', 1, { status: 'in_progress' }))
    expect([chat.task(1).started_at, chat.task(2).started_at]).toEqual(['2026-11-02T09:00:02.000Z', LATER])
  })

  it.each(['completed', 'cancelled'] as const)('completed_at is when it was %s', status => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    chat.wait(1_000).run(chat.sets('model', 1, { status, outcome: 'x' }))
    expect(chat.task(1).completed_at).toBe(LATER)
  })

  it('[TA14] reopening clears completed_at, outcome and judged_by, and the log keeps them', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'Other', 'A'))
    chat.run(chat.sets('person', 2, { status: 'completed', outcome: 'fine' }))
    const events = chat.wait(1_000).run(chat.sets('person', 2, { status: 'pending' }))
    expect(chat.task(2)).toMatchObject({ status: 'pending', judged_by: null, updated_at: LATER })
    for (const field of ['completed_at', 'outcome']) expect(chat.task(2)).not.toHaveProperty(field)
    const [change] = dataOf(events, 'task_changed')
    expect(change?.from).toStrictEqual({
      status: 'completed',
      outcome: 'fine',
      judged_by: 'person',
      completed_at: START,
    })
  })

  it('[TA14] a blocked task that is started again has no outcome left either', () => {
    const chat = inRun()
    chat.run(chat.adds('model', { title: 'A', status: 'blocked', outcome: 'no key' }))
    chat.run(chat.sets('model', 1, { status: 'in_progress' }))
    expect(chat.task(1)).not.toHaveProperty('outcome')
  })

  it('[TA14] a blocked task that is then settled does not keep why it was blocked, unless the call says something', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    for (const task of [1, 2]) chat.run(chat.sets('person', task, { status: 'blocked', outcome: 'no access' }))
    chat.run(chat.sets('person', 1, { status: 'completed' }))
    chat.run(chat.sets('person', 2, { status: 'completed', outcome: 'got access' }))
    expect(chat.task(1)).not.toHaveProperty('outcome')
    expect(chat.task(2).outcome).toBe('got access')
  })

  it('[TA14] an outcome that comes with the reopening stays', () => {
    const chat = inRun()
    chat.run(chat.adds('person', { title: 'A', status: 'completed', outcome: 'old' }))
    chat.run(chat.sets('person', 1, { status: 'pending', outcome: 'new' }))
    expect(chat.task(1).outcome).toBe('new')
  })

  it.each([
    ['person', 'person'],
    ['model', null],
    ['file', null],
  ] as const)('[TA14] what a %s settled is judged by %s', (by, judge) => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B', 'C'))
    for (const [task, status] of [
      [1, 'completed'],
      [2, 'blocked'],
      [3, 'cancelled'],
    ] as const) {
      chat.run(chat.sets(by, task, { status, outcome: 'x' }))
      expect(chat.task(task).judged_by).toBe(judge)
    }
  })

  it('[TA14] a judgement does not outlive what was judged', () => {
    const chat = inRun()
    chat.run(chat.adds('person', { title: 'A', status: 'blocked' }))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'x' }))
    expect(chat.task(1).judged_by).toBeNull()
  })
})
