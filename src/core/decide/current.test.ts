import { describe, expect, it } from 'vitest'
import { authors, dataOf, type Driver, inRun, START } from '../../../test/support/domain.ts'

const LATER = '2026-11-02T09:00:01.000Z'

const three = (): Driver => {
  const chat = inRun()
  chat.run(chat.adds('model', 'A', 'B', 'C'))
  chat.wait(1_000)
  return chat
}

describe('the current task', () => {
  it('[CU1] the first of a new plan is taken up as it is made', () => {
    const chat = inRun()
    const events = chat.run(chat.adds('model', 'A', 'B'))
    expect(dataOf(events, 'task_created').map(({ task }) => task.status)).toEqual(['in_progress', 'pending'])
    expect(chat.task(1)).toMatchObject({ version: 1, started_at: START })
  })

  it('[CU1] when the current one is settled, the first pending one by position follows in the same commit', () => {
    const chat = three()
    chat.run(chat.sets('person', 3, { position: 2 }))
    const events = chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'x' }))
    expect(events).toHaveLength(2)
    expect(chat.titles()).toEqual(['A', 'C', 'B'])
    expect(chat.statuses()).toEqual(['completed', 'in_progress', 'pending'])
    expect(chat.task(3)).toMatchObject({ started_at: LATER, version: 3 })
  })

  it.each(['completed', 'blocked', 'cancelled'] as const)('[CU1] %s makes room for the next', status => {
    const chat = three()
    chat.run(chat.sets('model', 1, { status, outcome: 'x' }))
    expect(chat.statuses()).toEqual([status, 'in_progress', 'pending'])
  })

  it('[CU1] so does a removal', () => {
    const chat = three()
    chat.run(chat.removes('model', 1))
    expect(chat.statuses()).toEqual(['in_progress', 'pending'])
  })

  it('[CU1] and a reopening, where nothing is in progress', () => {
    const chat = inRun()
    chat.run(chat.adds('model', { title: 'A', status: 'completed' }, { title: 'B', status: 'blocked' }))
    const events = chat.run(chat.sets('person', 1, { status: 'pending' }))
    expect(chat.statuses()).toEqual(['in_progress', 'blocked'])
    expect(authors(events)).toEqual([[1, 'person']])
  })

  it('[CU1] with nothing pending there is no current task', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', { title: 'B', status: 'blocked' }))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'x' }))
    expect(chat.statuses()).toEqual(['completed', 'blocked'])
  })

  it('[CU1] a task that is added or reopened beside the current one waits', () => {
    const chat = three()
    chat.run(chat.adds('person', { title: 'First', order: 1 }))
    expect(chat.titles()).toEqual(['First', 'A', 'B', 'C'])
    expect(chat.statuses()).toEqual(['pending', 'in_progress', 'pending', 'pending'])
  })

  it('[CU1] starting another returns the current one to pending', () => {
    const chat = three()
    const events = chat.run(chat.sets('model', 3, { status: 'in_progress' }))
    expect(chat.statuses()).toEqual(['pending', 'pending', 'in_progress'])
    expect(dataOf(events, 'task_changed').map(({ from }) => from)).toStrictEqual([
      { status: 'pending', started_at: null },
      { status: 'in_progress' },
    ])
  })

  it('[CU1] also where the other is new', () => {
    const chat = three()
    chat.run(chat.adds('person', { title: 'D', status: 'in_progress' }))
    expect(chat.statuses()).toEqual(['pending', 'pending', 'pending', 'in_progress'])
  })

  it('setting the current one to pending activates another', () => {
    const chat = three()
    chat.run(chat.sets('model', 1, { status: 'pending' }))
    expect(chat.statuses()).toEqual(['pending', 'in_progress', 'pending'])
    expect(chat.task(1).started_at).toBe(START)
  })

  it('the only task stays current, without an event', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', { title: 'B', status: 'blocked' }))
    chat.wait(1_000)
    expect(chat.run(chat.sets('model', 1, { status: 'pending' }))).toEqual([])
    expect(chat.task(1)).toMatchObject({ status: 'in_progress', started_at: START, version: 1 })
  })

  it('the only task stays current, whatever else the call changes', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    const events = chat.wait(1_000).run(chat.sets('person', 1, { status: 'pending', title: 'A2' }))
    expect(dataOf(events, 'task_changed')[0]?.from).toStrictEqual({ title: 'A' })
    expect(chat.task(1)).toMatchObject({ status: 'in_progress', started_at: START })
  })

  it('[CU1] a task blocked and reopened in the same call is first again', () => {
    const chat = three()
    const change = [
      { task: 1, fields: { status: 'blocked', outcome: 'x' } },
      { task: 1, fields: { status: 'pending' } },
    ] as const
    chat.run(chat.edits('person', { change }))
    expect(chat.statuses()).toEqual(['in_progress', 'pending', 'pending'])
  })

  it('[CU5] changes by the rules are by the system, changes the call names by the caller', () => {
    const chat = three()
    expect(authors(chat.run(chat.sets('model', 2, { status: 'in_progress' })))).toEqual([
      [2, 'model'],
      [1, 'system'],
    ])
    expect(authors(chat.run(chat.sets('person', 2, { status: 'pending' })))).toEqual([
      [2, 'person'],
      [1, 'system'],
    ])
    expect(authors(chat.run(chat.removes('file', 1)))).toEqual([
      [1, 'file'],
      [2, 'system'],
    ])
  })

  it('[CU1] another plan is left alone', () => {
    const chat = three()
    chat.finish('turn-1')
    chat.start('turn-2')
    chat.run(chat.adds('model', 'D', 'E'))
    chat.run(chat.sets('model', 5, { status: 'in_progress' }))
    expect(chat.statuses('turn-1')).toEqual(['in_progress', 'pending', 'pending'])
    expect(chat.statuses('turn-2')).toEqual(['pending', 'in_progress'])
  })
})

describe.each(['checklist', 'task_list'] as const)('items of %s', toolset => {
  const items = (): Driver => {
    const chat = inRun({ toolset })
    chat.run(chat.adds('model', 'A', 'B'))
    return chat
  }

  it.each<[string, (chat: Driver) => unknown]>([
    ['are added', () => {}],
    ['is settled', chat => chat.run(chat.sets('model', 1, { status: 'completed' }))],
    ['is removed', chat => chat.run(chat.removes('person', 1))],
    [
      'is opened again',
      chat => [true, false].map(done => chat.run(chat.sets('person', 1, { status: done ? 'completed' : 'pending' }))),
    ],
    ['of a turn are continued', chat => [chat.finish('turn-1'), chat.start('turn-2', {}, 'turn-1')]],
  ])('[CU6] none becomes current when one %s', (_, act) => {
    const chat = items()
    act(chat)
    expect(chat.statuses()).not.toContain('in_progress')
    expect(authors(chat.log).map(([, by]) => by)).not.toContain('system')
  })

  it('[CU6] a person may start one, and take it back; two are never in progress', () => {
    const chat = items()
    chat.run(chat.sets('person', 1, { status: 'in_progress' }))
    chat.run(chat.sets('person', 2, { status: 'in_progress' }))
    expect(chat.statuses()).toEqual(['pending', 'in_progress'])
    chat.run(chat.sets('person', 2, { status: 'pending' }))
    expect(chat.statuses()).toEqual(['pending', 'pending'])
  })

  it('[CU6] a turn that leaves them open is done', () => {
    const chat = items()
    expect(dataOf(chat.finish('turn-1'), 'turn_finished')[0]).toMatchObject({ status: 'done', remaining: 2 })
  })
})
