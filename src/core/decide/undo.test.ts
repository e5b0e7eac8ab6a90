import { describe, expect, it } from 'vitest'
import { authors, type Driver, inRun, outside, plain } from '../../../test/support/domain.ts'
import type { CommandOf } from '../model/command.ts'
import { listed } from '../model/conversation.ts'
import { MAX_REMOVED } from '../views/removed.ts'

type Change = CommandOf<'undo_change'>['change']

/** Undoes the newest change of a task, by number. */
function undoes(chat: Driver, number: number, back = 0): CommandOf<'undo_change'> {
  const changes = chat.log.filter((event): event is Change => 'task' in event.data && event.data.task.number === number)
  const change = changes.at(-1 - back)
  if (!change) throw new Error('nothing to undo')
  return { type: 'undo_change', change }
}

/** What a person sees of the tasks: not their versions. */
const shown = (chat: Driver): unknown =>
  listed(chat.state).map(({ version: _version, updated_at: _updated, ...task }) => task)

const plans = (): Driver => {
  const chat = outside()
  chat.run(chat.adds('model', 'A', 'B', 'C'))
  chat.wait(1_000)
  return chat
}

describe("a person's change that is taken back", () => {
  it.each<[string, (chat: Driver) => void]>([
    ['a title', chat => chat.run(chat.sets('person', 2, { title: 'B2', details: 'd', tags: ['x'] }))],
    ['a move', chat => chat.run(chat.sets('person', 2, { position: chat.task(1).position }))],
    ['a cancellation', chat => chat.run(chat.sets('person', 2, { status: 'cancelled', outcome: 'No.' }))],
    ['a tick', chat => chat.run(chat.sets('person', 2, { status: 'completed' }))],
    ['a block', chat => chat.run(chat.sets('person', 2, { status: 'blocked', outcome: 'No key.' }))],
    ['the cancelled current task', chat => chat.run(chat.sets('person', 1, { status: 'cancelled' }))],
    ['the ticked current task', chat => chat.run(chat.sets('person', 1, { status: 'completed', outcome: 'x' }))],
    ['a removal', chat => chat.run(chat.removes('person', 2))],
    ['the removed current task', chat => chat.run(chat.removes('person', 1))],
  ])('[TA21] %s: all is as it was before, by an edit that can be taken back in turn', (_, act) => {
    const chat = plans()
    const before = shown(chat)
    act(chat)
    const after = shown(chat)
    const { number } = (chat.log.findLast(event => 'by' in event.data && event.data.by === 'person') as Change).data
      .task
    const [undone] = chat.wait(1_000).run(undoes(chat, number))
    expect(undone).toMatchObject({ type: 'task_changed', data: { by: 'person' } })
    expect(withoutTimes(shown(chat))).toEqual(withoutTimes(before))
    expect(chat.task(number)).not.toHaveProperty('completed_at')
    chat.wait(1_000).run(undoes(chat, number))
    expect(withoutTimes(shown(chat))).toEqual(withoutTimes(after))
    chat.wait(1_000).run(undoes(chat, number))
    expect(withoutTimes(shown(chat))).toEqual(withoutTimes(before))
  })

  it('[TA21] a new task is removed again, and comes back with its number', () => {
    const chat = plans()
    chat.run(chat.adds('person', 'D'))
    chat.run(undoes(chat, 4))
    expect(chat.titles()).toEqual(['A', 'B', 'C'])
    chat.run(undoes(chat, 4))
    expect(chat.task(4)).toMatchObject({ title: 'D', version: 3, created_by: 'user' })
    expect(chat.task(4)).not.toHaveProperty('removed_at')
  })

  it('[TA21] a task that was blocked, or accepted by the assessor, is so again, with its outcome', () => {
    const chat = inRun({ assessor: true })
    chat.run(chat.adds('model', 'A', 'B'))
    chat.judges(1)
    chat.run(chat.sets('person', 1, { status: 'pending' }))
    chat.run(undoes(chat, 1))
    expect(chat.task(1)).toMatchObject({ status: 'completed', judged_by: 'assessor', outcome: 'It is done' })
    chat.run(chat.sets('model', 2, { status: 'blocked', outcome: 'No key.' }))
    chat.run(chat.sets('person', 2, { status: 'cancelled' }))
    chat.run(undoes(chat, 2))
    expect(chat.task(2)).toMatchObject({ status: 'blocked', judged_by: null, outcome: 'No key.' })
  })

  it('[TA14][TA21] who settled a task is not put back once the task is open', () => {
    const chat = outside('runsheet', { review: false, assessor: false })
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'x' }))
    chat.run(chat.sets('person', 1, { status: 'completed' }))
    chat.run(undoes(chat, 1))
    chat.run(chat.sets('file', 1, { status: 'pending' }))
    const refusal = chat.refusal(undoes(chat, 1, 1))
    expect([refusal.code, refusal.data]).toMatchObject(['not_undoable', { because: 'changed', fields: ['status'] }])
  })

  it('[TA21] what has become current since stays current once it was changed', () => {
    const chat = plans()
    chat.run(chat.sets('person', 1, { status: 'cancelled' }))
    chat.wait(1_000).run(chat.sets('model', 2, { outcome: 'Begun' }))
    chat.wait(1_000).run(undoes(chat, 1))
    expect(chat.statuses()).toEqual(['pending', 'in_progress', 'pending'])
  })

  it('[TA21][FE1] fences the agent, which is told what changed', () => {
    const chat = plans()
    chat.run(chat.sets('person', 2, { title: 'B2' }))
    chat.answer()
    chat.run(undoes(chat, 2))
    const refusal = chat.refusal(chat.sets('model', 2, { status: 'completed', outcome: 'x' }))
    expect([refusal.code, refusal.data]).toMatchObject(['edited_by_person', { changed: { title: 'B' } }])
  })

  it('[TA21] a removed task comes back to its plan, with its approvals and its number', () => {
    const chat = outside()
    const check = { kind: 'command', run: ['npm', 'test'], id: 'check-1', hash: 'h1' } as const
    chat.run(chat.adds('person', { title: 'A', checks: [check] }, 'B'))
    chat.run({ type: 'open_turn', turn_id: 'turn-2' })
    expect(chat.task(1).plan_id).toBe('turn-1')
    const before = plain(chat.state) as Record<string, unknown>
    const events = chat.run(chat.removes('person', 1))
    expect(chat.state.plans.get('turn-1')?.counts).toMatchObject({ removed: 1, open: 1 })
    chat.run(undoes(chat, 1))
    const after = plain(chat.state) as Record<string, unknown>
    for (const table of ['proof', 'rejections', 'turns', 'removed']) {
      expect([table, after[table]]).toEqual([table, before[table]])
    }
    expect(authors(events)).toEqual([
      [1, 'person'],
      [2, 'system'],
    ])
    expect(chat.state.open).toHaveLength(2)
  })

  it('[TA21] of removed tasks the newest fifty can be brought back, and only what a person removed', () => {
    const chat = outside('task_list')
    for (let count = 0; count < MAX_REMOVED + 2; count += 1) chat.run(chat.adds('person', `T${count}`))
    chat.run(chat.removes('model', 1))
    expect(chat.refusal(undoes(chat, 1)).data).toMatchObject({ because: 'not_persons' })
    for (let number = 2; number < MAX_REMOVED + 3; number += 1) chat.run(chat.removes('person', number))
    expect(chat.state.removed.size).toBe(MAX_REMOVED)
    expect(chat.refusal(undoes(chat, 2)).data).toMatchObject({ because: 'too_old' })
    chat.run(undoes(chat, 3))
    expect(chat.titles()).toEqual(['T2'])
  })
})

describe('a change that cannot be taken back', () => {
  it.each<[string, (chat: Driver) => void, object]>([
    [
      'the agent changed the same field',
      chat => chat.run(chat.sets('model', 2, { title: 'B3' }, { basis: chat.state.seq })),
      { by: 'agent', fields: ['title'] },
    ],
    [
      'another person changed the same field',
      chat => chat.run(chat.sets('person', 2, { title: 'B3' })),
      { by: 'person', fields: ['title'] },
    ],
  ])('[TA21] %s: refused, with who and what', (_, act, data) => {
    const chat = plans()
    chat.run(chat.sets('person', 2, { title: 'B2' }))
    const undo = undoes(chat, 2)
    act(chat)
    const before = plain(chat.state)
    const refusal = chat.refusal(undo)
    expect([refusal.code, refusal.data]).toMatchObject([
      'not_undoable',
      { because: 'changed', task: { title: 'B3' }, ...data },
    ])
    expect(plain(chat.state)).toStrictEqual(before)
  })

  it('[TA21] other fields may have changed since', () => {
    const chat = plans()
    chat.run(chat.sets('person', 2, { title: 'B2' }))
    const undo = undoes(chat, 2)
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'Done.' }, { basis: chat.state.seq }))
    chat.run(undo)
    expect(chat.task(2)).toMatchObject({ title: 'B', status: 'completed', outcome: 'Done.' })
  })

  it('[TA21] what was added or brought back stays once somebody has worked on it', () => {
    const chat = plans()
    chat.run(chat.adds('person', 'D'))
    const added = undoes(chat, 4)
    chat.run(chat.removes('person', 4))
    expect(chat.refusal(added).data).toMatchObject({ because: 'removed' })
    const removal = undoes(chat, 4)
    chat.run(removal)
    expect(chat.refusal(removal).data).toMatchObject({ because: 'listed' })
    const brought = undoes(chat, 4)
    chat.run(chat.sets('model', 4, { status: 'completed', outcome: 'x' }, { basis: chat.state.seq }))
    expect(chat.refusal(brought).data).toMatchObject({ because: 'changed', by: 'agent', fields: ['status', 'outcome'] })
    expect(chat.refusal(added).data).toMatchObject({ because: 'changed' })
  })

  it('[TA21] a removal that was taken back and made again is the newer one', () => {
    const chat = plans()
    chat.run(chat.removes('person', 2))
    const first = undoes(chat, 2)
    chat.run(first)
    chat.run(chat.removes('person', 2))
    expect(chat.refusal(first).data).toMatchObject({ because: 'too_old' })
    chat.run(undoes(chat, 2))
    expect(chat.titles()).toEqual(['A', 'B', 'C'])
  })

  it("[TA21] what the agent, the assessor or the rules changed is not the person's", () => {
    const chat = plans()
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'x' }))
    for (const number of [1, 2, 3])
      expect(chat.refusal(undoes(chat, number)).data).toMatchObject({ because: 'not_persons' })
  })
})

/** When work on a task began and ended may differ afterwards. */
function withoutTimes(tasks: unknown): unknown {
  const kept = ([field]: [string, unknown]): boolean => !field.endsWith('_at')
  return (tasks as object[]).map(task => Object.fromEntries(Object.entries(task).filter(kept)))
}
