import { describe, expect, it } from 'vitest'
import { authors, inRun, outside, typesOf, type Driver } from '../../../test/support/domain.ts'
import type { CommandOf } from '../model/command.ts'
import type { Verdict } from '../model/event.ts'
import { claimsOf } from '../proof/claims.ts'
import type { PolicyPatch } from '../model/policy.ts'
import { Refusal } from '../model/refusal.ts'

type Edit = CommandOf<'edit_tasks'>
type Change = NonNullable<Edit['change']>[number]

const planned = (policy: PolicyPatch = {}): Driver => {
  const chat = inRun({ assessor: true, ...policy })
  chat.run(chat.adds('model', 'A', 'B', 'C'))
  chat.answer()
  return chat
}

const done = (task: number, outcome = 'did it'): Change => ({ task, fields: { status: 'completed', outcome } })

/** A call whose claims are judged one after the other, and which is settled then. */
function ruled(chat: Driver, edit: Edit, verdict: (title: string) => Verdict = () => 'ok') {
  chat.holds(edit)
  for (const { task_id } of claimsOf(chat.state, 'turn-1', 'call-9')) {
    const { title = '' } = chat.state.tasks.get(task_id) ?? {}
    chat.run(chat.assesses(task_id, { verdict: verdict(title), reason: `on ${title}` }))
  }
  return chat.settlesCall()
}

describe('the claims of an edit', () => {
  it('[AS10] are collected in one pass, one for each task', () => {
    const chat = planned()
    const claims = chat.asked(chat.edits('model', { change: [done(1), done(3), done(1)], each: true }))
    expect(claims.map(({ title }) => title)).toEqual(['A', 'C'])
  })

  it('[AS10] are about the text that the edit leaves', () => {
    const chat = planned()
    const change = [done(1), { task: 1, fields: { title: 'A2', outcome: 'really' } }]
    const edit = chat.edits('model', { change })
    expect(chat.asked(edit)).toMatchObject([{ title: 'A2', outcome: 'really' }])
    const events = ruled(chat, edit)
    if ('needs' in events || events instanceof Refusal) throw new Error('not settled')
    expect(typesOf(events)).toEqual(['task_changed', 'task_changed', 'claim_settled'])
    expect(authors(events)).toEqual([
      [1, 'assessor'],
      [2, 'system'],
    ])
    expect(chat.task(1)).toMatchObject({ title: 'A2', outcome: 'really', judged_by: 'assessor', version: 2 })
  })

  it('[AS10] what a later element reopens is not claimed', () => {
    const chat = planned()
    chat.run(chat.edits('model', { change: [done(1), { task: 1, fields: { status: 'pending' } }] }))
    expect(chat.task(1)).toMatchObject({ status: 'in_progress', judged_by: null })
  })

  it('[TA14] what the assessor said against a task is not the outcome of what it passes later', () => {
    const chat = planned({ toolset: 'task_list' })
    for (const _ of [1, 2]) chat.run(chat.assesses(1, { verdict: 'not_ok', reason: 'No proof' }))
    expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: 'No proof' })
    const edit = chat.edits('model', { change: [{ task: 1, fields: { status: 'completed' } }] })
    expect(chat.asked(edit)).toMatchObject([{ outcome: '' }])
    ruled(chat, edit)
    expect(chat.task(1)).toMatchObject({ status: 'completed', judged_by: 'assessor' })
    expect(chat.task(1)).not.toHaveProperty('outcome')
  })
})

describe('what was settled', () => {
  const passed = (): Driver => {
    const chat = planned()
    ruled(chat, chat.edits('model', { change: [done(1)] }))
    return chat
  }

  it.each([{ title: 'A2' }, { details: 'x' }, { criteria: 'x' }, { outcome: 'x' }])(
    'a model that changes %o loses the verdict',
    fields => {
      const chat = passed()
      chat.run(chat.sets('model', 1, fields))
      expect(chat.task(1)).toMatchObject({ status: 'completed', ...fields, judged_by: null })
    },
  )

  it('what the verdict was not about may change, and so may nothing', () => {
    const chat = passed()
    chat.run(chat.sets('model', 1, { title: 'A', outcome: 'did it', priority: 'high', tags: ['x'], position: 9 }))
    expect(chat.task(1)).toMatchObject({ priority: 'high', judged_by: 'assessor' })
  })

  it.each(['person', 'file'] as const)('a %s may reword it', by => {
    const chat = passed()
    chat.run(chat.sets(by, 1, { title: 'A2', outcome: 'x' }))
    expect(chat.task(1)).toMatchObject({ title: 'A2', outcome: 'x', judged_by: 'assessor' })
  })

  it('also by an agent elsewhere', () => {
    const chat = passed()
    chat.finish('turn-1')
    chat.run({ type: 'open_turn', turn_id: 'turn-2' })
    chat.run(chat.sets('model', 1, { title: 'A2' }))
    expect(chat.task(1).judged_by).toBeNull()
  })

  it('a model that replaces the reason for a block signs it', () => {
    const chat = planned()
    for (const _ of [1, 2]) chat.judges(1, { verdict: 'not_ok', reason: 'No proof' })
    chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'It is fine' }))
    expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: 'It is fine', judged_by: null })
  })

  it.each(['completed', 'cancelled', 'blocked'] as const)(
    '[TA19] a model cannot reword what a person settled: %s',
    status => {
      const chat = outside()
      chat.run(chat.adds('model', 'A'))
      chat.run(chat.sets('person', 1, { status, outcome: 'mine' }))
      chat.answer()
      for (const fields of [{ title: 'A2' }, { details: 'x' }, { criteria: 'x' }, { outcome: 'x' }, { outcome: '' }]) {
        const refusal = chat.refusal(chat.sets('model', 1, fields))
        expect([refusal.code, refusal.data]).toMatchObject(['settled_by_person', { field: Object.keys(fields)[0] }])
      }
      chat.run(chat.sets('model', 1, { title: 'A', outcome: 'mine', priority: 'low' }))
      expect(chat.task(1)).toMatchObject({ status, outcome: 'mine', judged_by: 'person', priority: 'low' })
    },
  )

  it.each(['completed', 'cancelled', 'blocked'] as const)(
    '[TA19] a model cannot delete what a person settled: %s',
    status => {
      const chat = outside()
      chat.run(chat.adds('model', 'A'))
      chat.run(chat.sets('person', 1, { status }))
      chat.answer()
      const refusal = chat.refusal(chat.removes('model', 1))
      expect([refusal.code, refusal.message]).toEqual([
        'settled_by_person',
        'A person settled task 1: it cannot be deleted.',
      ])
      chat.run(chat.removes('person', 1))
      expect(chat.titles()).toEqual([])
    },
  )

  it.each(['completed', 'cancelled'] as const)('[TA19] only a person reopens what a person settled: %s', status => {
    const chat = outside()
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('person', 1, { status, outcome: 'mine' }))
    chat.answer()
    const refusal = chat.refusal(chat.sets('model', 1, { status: 'pending' }))
    expect([refusal.code, refusal.data]).toMatchObject(['settled_by_person', { field: 'status' }])
    chat.run(chat.sets('person', 1, { status: 'pending' }))
    chat.answer()
    chat.run(chat.sets('model', 1, { title: 'A2' }))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'done' }))
    expect(chat.task(1)).toMatchObject({ title: 'A2', outcome: 'done', judged_by: null })
    chat.run(chat.sets('model', 1, { status: 'pending' }))
  })

  it('[TA19] a model may finish what a person blocked', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('person', 1, { status: 'blocked' }))
    chat.answer()
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'found it' }))
    expect(chat.task(1)).toMatchObject({ outcome: 'found it', judged_by: null })
  })

  it('[TA4] a model cannot erase the outcome of what it completed', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'x' }))
    expect(chat.refusal(chat.sets('model', 1, { outcome: '\u200b' })).code).toBe('outcome_required')
    expect(chat.task(1).outcome).toBe('x')
  })
})
