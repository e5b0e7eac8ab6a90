import { describe, expect, it } from 'vitest'
import { type Driver, inRun, outside, typesOf } from '../../../test/support/domain.ts'

describe('with review on', () => {
  const reviewed = (): Driver => {
    const chat = inRun({ review: true })
    chat.run(chat.adds('person', 'A', 'B'))
    chat.answer()
    return chat
  }

  it.each([
    { title: 'x' },
    { details: 'x' },
    { criteria: 'x' },
    { priority: 'high' },
    { tags: ['x'] },
    { position: 2 },
    { agent_type: 'x' },
  ] as const)('[PO9] a model cannot reword a listed task: %j', fields => {
    const chat = reviewed()
    const refusal = chat.refusal(chat.sets('model', 1, { ...fields, status: 'blocked', outcome: 'x' }))
    expect([refusal.code, refusal.data]).toMatchObject(['reviewed_tasks_are_fixed', { row: 0 }])
  })

  it('the same values are no rewording', () => {
    const chat = reviewed()
    const same = { title: ' A', details: '', criteria: '', priority: 'medium', tags: [], position: 1 } as const
    chat.run(chat.sets('model', 1, { ...same, status: 'blocked', outcome: 'no key' }))
    expect(chat.task(1)).toMatchObject({ title: 'A', status: 'blocked', outcome: 'no key' })
  })

  it('[PO9] a model cannot remove one', () => {
    const chat = reviewed()
    expect(chat.refusal(chat.removes('model', 2)).code).toBe('reviewed_tasks_are_fixed')
  })

  it('[PO9] status and outcome are what it may change', () => {
    const chat = reviewed()
    const events = chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'done' }))
    expect(typesOf(events)).toEqual(['task_changed', 'task_changed'])
    chat.run(chat.sets('model', 2, { outcome: 'half way' }))
    expect([chat.task(1), chat.task(2)]).toMatchObject([{ status: 'completed' }, { outcome: 'half way' }])
  })

  it('[PO9] a person may do both', () => {
    const chat = reviewed()
    chat.run(chat.edits('person', { change: [{ task: 1, fields: { title: 'A2' } }], remove: [{ task: 2 }] }))
    expect(chat.titles()).toEqual(['A2'])
  })

  it.each(['manage_todos', 'checklist', 'task_manager', 'turn_todos', 'task_list', 'runsheet'] as const)(
    '[PO9] what a model creates with %s becomes a review',
    toolset => {
      const chat = outside(toolset, { review: true })
      expect(typesOf(chat.run(chat.adds('model', 'A')))).toEqual(['task_create_review_required'])
      expect(chat.titles()).toEqual([])
    },
  )

  it('[PO9] without a place to ask, creating is refused', () => {
    const chat = reviewed()
    const { review: _, ...command } = chat.edits('model', { create: [{ id: chat.id(), title: 'C' }] })
    expect(chat.refusal(command).code).toBe('persons_only')
  })

  it('[TA11] what a call changes besides is written, though what it creates has to wait', () => {
    const chat = reviewed()
    const change = [{ task: 1, fields: { status: 'blocked', outcome: 'no key' } }] as const
    const events = chat.run(chat.edits('model', { create: [{ id: chat.id(), title: 'C' }], change }))
    expect(typesOf(events)).toEqual(['task_changed', 'task_changed', 'task_create_review_required'])
    expect(chat.statuses()).toEqual(['blocked', 'in_progress'])
  })
})
