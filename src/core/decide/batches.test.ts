import { describe, expect, it } from 'vitest'
import { idOf, inRun } from '../../../test/support/domain.ts'
import { openTasks } from '../model/conversation.ts'

const titled = (count: number): string[] => Array.from({ length: count }, (_, index) => `Task ${index + 1}`)

describe('a batch', () => {
  it('holds 1 to 20 tasks', () => {
    const chat = inRun()
    expect(chat.refusal(chat.adds('model')).code).toBe('batch_empty')
    expect(chat.refusal(chat.adds('model', ...titled(21))).code).toBe('batch_too_large')
    expect(chat.refusal(chat.adds('person', ...titled(21))).code).toBe('batch_too_large')
    expect(chat.run(chat.adds('model', ...titled(20)))).toHaveLength(20)
  })

  it('[BA2] is all or nothing, and the refusal names element and field', () => {
    const chat = inRun()
    const refusal = chat.refusal(chat.adds('model', 'A', { title: 'B', details: 'x'.repeat(8_001) }, 'C'))
    expect(refusal.code).toBe('invalid_field')
    expect(refusal.message).toBe('tasks[1].details must be at most 8000 characters, got 8001.')
    expect(refusal.data).toMatchObject({ row: 1, field: 'details' })
    expect(chat.titles()).toEqual([])
  })

  it('[BA2] refuses an element without a title or that is no object', () => {
    const chat = inRun()
    expect(chat.refusal(chat.adds('model', 'A', { details: 'x' })).data).toMatchObject({ row: 1, field: 'title' })
    const rows: unknown = [{ id: chat.id(), title: 'A' }, null]
    expect(chat.refusal(chat.edits('model', { create: rows as { id: string }[] })).data).toMatchObject({
      row: 1,
      field: 'row',
    })
  })

  it('[BA2] a refused change names its element, and the whole batch is refused', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', { title: 'B', status: 'completed' }))
    const change = [
      { task: 1, fields: { title: 'A2' } },
      { task: 2, fields: { status: 'blocked', outcome: 'no' } },
    ] as const
    const refusal = chat.refusal(chat.edits('model', { change }))
    expect([refusal.code, refusal.data]).toMatchObject(['status_not_allowed', { row: 1, field: 'status' }])
    expect(chat.titles()).toEqual(['A', 'B'])
    const untyped: unknown = [{ task: 1, fields: {} }, null, { task: 1, fields: null }]
    const junk = untyped as typeof change
    expect(chat.refusal(chat.edits('model', { change: junk })).data).toMatchObject({ row: 1, field: 'row' })
    expect(chat.refusal(chat.edits('model', { change: junk.toSpliced(1, 1) })).data).toMatchObject({ row: 1 })
    expect(chat.refusal(chat.edits('model', { remove: junk.slice(1, 2) })).data).toMatchObject({ row: 0 })
  })

  it('a conversation holds 1,000 open tasks and not 1,001, settled ones not counted', () => {
    const chat = inRun()
    chat.run(chat.adds('file', ...titled(999), { title: 'Done', status: 'completed' }))
    const refusal = chat.refusal(chat.adds('model', 'A', 'B'))
    expect(refusal.code).toBe('too_many_open')
    chat.run(chat.adds('model', 'A'))
    expect(openTasks(chat.state)).toHaveLength(1_000)
    expect(chat.refusal(chat.adds('person', 'B')).code).toBe('too_many_open')
    expect(chat.refusal(chat.sets('person', 1_000, { status: 'pending' })).code).toBe('too_many_open')
    chat.run(chat.adds('person', { title: 'Done too', status: 'completed' }))
    chat.run(chat.sets('person', 1, { status: 'completed' }))
    chat.run(chat.sets('person', 1_000, { status: 'pending' }))
    expect(openTasks(chat.state)).toHaveLength(1_000)
  })

  it('two new tasks in progress are refused', () => {
    const chat = inRun()
    const two = chat.adds('person', { title: 'A', status: 'in_progress' }, { title: 'B', status: 'in_progress' })
    expect(chat.refusal(two).code).toBe('two_in_progress')
  })

  it('so are two that one call starts, a new one and the current one included', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B', 'C'))
    const start = (task: number) => ({ task, fields: { status: 'in_progress' } }) as const
    const create = [{ id: chat.id(), title: 'D', status: 'in_progress' }] as const
    expect(chat.refusal(chat.edits('person', { change: [start(2), start(3)] })).code).toBe('two_in_progress')
    expect(chat.refusal(chat.edits('person', { change: [start(2), start(1)] })).code).toBe('two_in_progress')
    expect(chat.refusal(chat.edits('person', { create, change: [start(3)] })).code).toBe('two_in_progress')
    expect(chat.statuses()).toEqual(['in_progress', 'pending', 'pending'])
  })

  it('one in each of two plans is fine', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    chat.finish('turn-1')
    chat.start('turn-2')
    chat.run(chat.adds('model', 'C', 'D'))
    const change = [2, 4].map(task => ({ task, fields: { status: 'in_progress' } }) as const)
    chat.run(chat.edits('person', { change }))
    expect(chat.statuses()).toEqual(['pending', 'in_progress', 'pending', 'in_progress'])
  })

  it('a parent is a listed task of the conversation', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run(chat.adds('model', { title: 'A.1', parent_id: idOf(1) }))
    expect(chat.task(3).parent_id).toBe(idOf(1))
    const unknown = chat.refusal(chat.adds('model', 'X', { title: 'Y', parent_id: idOf(77) }))
    expect([unknown.code, unknown.data]).toMatchObject(['task_not_found', { row: 1, field: 'parent_id' }])
    chat.run(chat.removes('model', 2))
    expect(chat.refusal(chat.adds('model', { title: 'B.1', parent_id: idOf(2) })).code).toBe('task_not_found')
  })
})
