import { describe, expect, it } from 'vitest'
import { authors, dataOf, Driver, inRun, starts, typesOf } from '../../../test/support/domain.ts'
import type { Command } from '../model/command.ts'
import { planById } from '../model/plan.ts'
import { type PolicyPatch, TOOLSETS } from '../model/policy.ts'

/** A finished turn that left a blocked, a current and a pending task behind. */
const leftOver = (policy: PolicyPatch = {}): Driver => {
  const chat = inRun(policy)
  chat.run(chat.adds('person', { title: 'A', status: 'blocked' }, 'B', 'C'))
  chat.answer()
  chat.finish('turn-1')
  return chat
}

describe('a plan', () => {
  it('[PL3] continue_turn_id is another turn on the same plan; tasks keep the turn that made them', () => {
    const chat = leftOver()
    chat.start('turn-2', {}, 'turn-1')
    expect([chat.titles('turn-2'), chat.titles('turn-1')]).toEqual([
      ['A', 'B', 'C'],
      ['A', 'B', 'C'],
    ])
    expect(planById(chat.state, 'turn-1').turns).toEqual(['turn-1', 'turn-2'])
    expect(chat.task(2)).toMatchObject({ conversation_turn_id: 'turn-1', plan_id: 'turn-1' })
    expect(dataOf(chat.log, 'turn_started').at(-1)).toMatchObject({ continue_turn_id: 'turn-1', plan_id: 'turn-1' })
  })

  it('[PL3] a turn of ours that continues none picks up no old tasks', () => {
    const chat = leftOver()
    chat.start('turn-2')
    expect(chat.titles('turn-2')).toEqual([])
    expect(chat.titles('turn-1')).toEqual(['A', 'B', 'C'])
    expect(dataOf(chat.log, 'turn_started').at(-1)).not.toHaveProperty('continue_turn_id')
  })

  it('[PL1] what a turn makes joins its plan, with one current task', () => {
    const chat = leftOver()
    chat.start('turn-2', {}, 'turn-1')
    chat.run(chat.adds('model', 'D'))
    expect(chat.task(4)).toMatchObject({ conversation_turn_id: 'turn-2', plan_id: 'turn-1' })
    expect(chat.titles('turn-2')).toEqual(['A', 'B', 'C', 'D'])
    expect(chat.statuses('turn-2')).toEqual(['blocked', 'in_progress', 'pending', 'pending'])
  })

  it('[PL3] a turn that is not there cannot be continued', () => {
    const chat = leftOver()
    expect(chat.refusal(starts('turn-2', {}, 'turn-9')).code).toBe('turn_not_found')
  })

  it('[PL3] the current one of a continued plan stays current, wherever it stands', () => {
    const chat = leftOver()
    chat.run(chat.sets('person', 3, { status: 'in_progress' }))
    expect(typesOf(chat.start('turn-2', {}, 'turn-1'))).toEqual(['turn_started'])
    expect(chat.statuses('turn-2')).toEqual(['blocked', 'pending', 'in_progress'])
  })

  it('[CU1] a continued plan without a current task gets one with the start', () => {
    const chat = leftOver()
    // No command leaves a plan like this; a log that another version wrote may.
    const current = { ...chat.task(2), status: 'pending' as const }
    chat.state = { ...chat.state, tasks: chat.state.tasks.with(current.id, current) }
    const events = chat.run(starts('turn-2', {}, 'turn-1'))
    expect(typesOf(events)).toEqual(['turn_started', 'task_changed'])
    expect(authors(events)).toEqual([[2, 'system']])
    expect(chat.statuses('turn-2')).toEqual(['blocked', 'in_progress', 'pending'])
  })

  it('a turn ends with the counts of its whole plan, removals included', () => {
    const chat = leftOver()
    chat.start('turn-2', {}, 'turn-1')
    chat.run(chat.removes('person', 3))
    const events = chat.finish('turn-2')
    expect(dataOf(events, 'turn_finished')[0]?.counts).toEqual({
      completed: 0,
      blocked: 1,
      cancelled: 0,
      disputed: 0,
      removed: 1,
      open: 1,
    })
  })
})

const REACHING = ['checklist', 'task_manager', 'task_list', 'runsheet'] as const

describe('a turn from outside', () => {
  const opens = (turn_id: string): Command => ({ type: 'open_turn', turn_id })

  it.each(['task_manager', 'runsheet'] as const)('[PL7] with %s it joins the plan of what is open', toolset => {
    const chat = leftOver({ toolset })
    const events = chat.run(opens('turn-2'))
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['turn_opened', { turn_id: 'turn-2', plan_id: 'turn-2' }],
      ['plan_joined', { turn_id: 'turn-2', plan_id: 'turn-1', task_ids: [] }],
    ])
    expect(chat.titles('turn-2')).toEqual(['A', 'B', 'C'])
    expect(chat.task(2).conversation_turn_id).toBe('turn-1')
    expect(chat.state.plans.has('turn-2')).toBe(false)
  })

  it.each(['checklist', 'task_list'] as const)('[PL7] with %s a conversation has one plan', toolset => {
    const chat = leftOver({ toolset })
    expect(typesOf(chat.run(opens('turn-2')))).toEqual(['turn_opened'])
    chat.run(chat.adds('model', 'D'))
    expect(chat.titles('turn-2')).toEqual(['A', 'B', 'C', 'D'])
    chat.start('turn-3')
    expect(planById(chat.state, 'turn-1').turns).toEqual(['turn-1', 'turn-2', 'turn-3'])
  })

  it.each(['manage_todos', 'turn_todos'] as const)('[PL7] with %s it joins nothing', toolset => {
    const chat = leftOver({ toolset, assessor: true })
    expect(typesOf(chat.run(opens('turn-2')))).toEqual(['turn_opened'])
    expect(chat.titles('turn-2')).toEqual([])
  })

  it('[PL7] a call that plans joins nothing', () => {
    const chat = leftOver()
    chat.run({ type: 'open_turn', turn_id: 'turn-2', plans: true })
    expect(chat.titles('turn-2')).toEqual([])
    expect(chat.titles('turn-1')).toEqual(['A', 'B', 'C'])
  })

  it('[PL7] a call that only reads joins nothing: what is planned after it is a plan of its own', () => {
    const chat = leftOver()
    chat.run({ type: 'open_turn', turn_id: 'turn-2', reads: true })
    expect(chat.titles('turn-2')).toEqual([])
    expect(typesOf(chat.run(opens('turn-2')))).toEqual(['plan_joined'])
  })

  it('[PL7] one that has a plan takes what is open into it, with any call, as soon as it has nothing open itself', () => {
    const chat = leftOver({ review: false })
    chat.run({ type: 'open_turn', turn_id: 'turn-2', plans: true })
    chat.run(chat.adds('model', 'D'))
    expect(chat.run(opens('turn-2'))).toEqual([])
    chat.run(chat.sets('model', 4, { status: 'completed', outcome: 'x' }))
    expect(chat.run({ type: 'open_turn', turn_id: 'turn-2', plans: true })).toEqual([])
    expect(typesOf(chat.run(opens('turn-2')))).toEqual(['plan_joined'])
    expect(chat.titles('turn-2')).toEqual(['B', 'C', 'D'])
    expect(chat.statuses('turn-2')).toEqual(['in_progress', 'pending', 'completed'])
    expect(chat.run(opens('turn-2'))).toEqual([])
    // What was taken is taken back in the same way, and its plan stays.
    expect(typesOf(chat.run({ type: 'open_turn', turn_id: 'turn-3' }))).toEqual(['turn_opened', 'plan_joined'])
    expect(planById(chat.state, 'turn-1').is_taken).toBe(true)
  })

  it('[PL7] it joins nothing while its review waits, and what is open once that is turned down', () => {
    const chat = leftOver({ review: true })
    chat.run({ type: 'open_turn', turn_id: 'turn-2', plans: true })
    chat.run(chat.adds('model', 'D'))
    expect(chat.run(opens('turn-2'))).toEqual([])
    chat.run({ type: 'decide_review', review_id: 'review-1', decision: { action: 'cancel' }, via: 'http', ids: [] })
    expect(typesOf(chat.run(opens('turn-2')))).toEqual(['plan_joined'])
    expect(chat.titles('turn-2')).toEqual(['A', 'B', 'C'])
  })

  it('[PL7] several turns may work on one plan', () => {
    const chat = leftOver()
    chat.run(opens('turn-2'))
    chat.run(opens('turn-3'))
    expect(chat.run(opens('turn-2'))).toEqual([])
    expect(planById(chat.state, 'turn-1').turns).toEqual(['turn-1', 'turn-2', 'turn-3'])
  })

  it('[PL7] it joins nothing where all is settled', () => {
    const chat = leftOver()
    chat.run(chat.sets('person', 2, { status: 'completed' }))
    chat.run(chat.sets('person', 3, { status: 'cancelled' }))
    expect(typesOf(chat.run(opens('turn-2')))).toEqual(['turn_opened'])
    expect(chat.run(opens('turn-2'))).toEqual([])
    expect(chat.titles('turn-2')).toEqual([])
  })

  /** A turn elsewhere that works on what two turns of ours left open. */
  function tookOver(): Driver {
    const chat = leftOver({ review: false })
    chat.start('turn-2')
    chat.run(chat.adds('model', 'D'))
    chat.finish('turn-2')
    chat.run(opens('outside'))
    expect(chat.titles('outside')).toEqual(['B', 'C', 'D'])
    return chat
  }

  it('[PL2] the plan of the newest open task takes over the open tasks of the others', () => {
    const chat = tookOver()
    expect(dataOf(chat.log, 'plan_joined')).toEqual([
      { turn_id: 'outside', plan_id: 'turn-2', task_ids: [chat.task(2).id, chat.task(3).id] },
    ])
    expect([chat.titles('turn-1'), chat.titles('turn-2')]).toEqual([['A'], ['B', 'C', 'D']])
    expect(planById(chat.state, 'turn-1')).toMatchObject({ counts: { blocked: 1, open: 0 }, is_taken: true })
    expect(planById(chat.state, 'turn-2').counts.open).toBe(3)
  })

  it('[PL3][CU1] a turn that continues takes back what agents elsewhere took; what stays keeps a current task', () => {
    const chat = tookOver()
    const events = chat.start('turn-3', {}, 'turn-1')
    expect(typesOf(events)).toEqual(['turn_started', 'plan_joined', 'task_changed'])
    expect([chat.titles('turn-3'), chat.titles('outside')]).toEqual([['A', 'B', 'C'], ['D']])
    expect([chat.statuses('turn-3'), chat.statuses('outside')]).toEqual([
      ['blocked', 'in_progress', 'pending'],
      ['in_progress'],
    ])
    expect(authors(events)).toEqual([[4, 'system']])
  })

  it('[PL3] what a turn of ours went on with stays there', () => {
    const chat = tookOver()
    chat.start('turn-3', {}, 'outside')
    chat.finish('turn-3')
    chat.start('turn-4', {}, 'turn-1')
    expect(chat.titles('turn-4')).toEqual(['A'])
  })

  it('[PL7][CU1] of the current tasks of several plans the first stays current', () => {
    const chat = leftOver({ review: false })
    chat.start('turn-2')
    chat.run(chat.adds('model', 'D', 'E'))
    chat.finish('turn-2')
    expect([...chat.statuses('turn-1'), ...chat.statuses('turn-2')].filter(s => s === 'in_progress')).toHaveLength(2)
    const events = chat.run(opens('turn-3'))
    expect(chat.titles('turn-3')).toEqual(['B', 'C', 'D', 'E'])
    expect(chat.statuses('turn-3')).toEqual(['in_progress', 'pending', 'pending', 'pending'])
    expect(authors(events)).toEqual([[4, 'system']])
  })

  it('[PL7][CU1] a plan without a current task gets one with the opening', () => {
    const chat = leftOver()
    const current = { ...chat.task(2), status: 'pending' as const }
    chat.state = { ...chat.state, tasks: chat.state.tasks.with(current.id, current) }
    expect(typesOf(chat.run(opens('turn-2')))).toEqual(['turn_opened', 'plan_joined', 'task_changed'])
    expect(chat.statuses('turn-2')).toEqual(['blocked', 'in_progress', 'pending'])
  })
})

describe('the reach of a model', () => {
  it.each(['manage_todos', 'turn_todos'] as const)('[PL5] with %s it is its own plan', toolset => {
    const chat = leftOver({ toolset, assessor: true })
    chat.start('turn-2')
    chat.run(chat.adds('model', 'D'))
    const refusal = chat.refusal(chat.sets('model', 2, { outcome: 'x' }))
    expect([refusal.code, refusal.message]).toEqual(['task_not_found', 'There is no task with this id. Open: 4 (D).'])
    expect(chat.refusal(chat.removes('model', 2)).code).toBe('task_not_found')
    chat.run(chat.sets('model', 4, { outcome: 'x' }))
  })

  it.each(REACHING)('[PL5] with %s it is the conversation', toolset => {
    const chat = leftOver({ toolset })
    chat.start('turn-2')
    const events = chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'x' }))
    expect(chat.statuses('turn-1')).toEqual([
      'blocked',
      'completed',
      TOOLSETS[toolset].captures ? 'pending' : 'in_progress',
    ])
    expect(new Set(events.map(event => event.turn_id))).toEqual(new Set(['turn-2']))
  })

  it('[PL5] what its turn continues is within reach', () => {
    const chat = leftOver({ toolset: 'turn_todos' })
    chat.start('turn-2', {}, 'turn-1')
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'x' }))
    expect(chat.refusal(chat.sets('model', 1, { outcome: 'x' })).code).toBe('settled_by_person')
  })

  it('[PL5] a person reaches everything', () => {
    const chat = leftOver({ toolset: 'turn_todos' })
    chat.start('turn-2')
    const events = chat.run(chat.sets('person', 2, { title: 'B2' }))
    expect(chat.task(2).title).toBe('B2')
    expect(events.map(event => event.turn_id)).toEqual(['turn-1'])
  })
})

describe("a person's new task", () => {
  it('joins the running turn', () => {
    const chat = leftOver()
    chat.start('turn-2')
    chat.run(chat.adds('person', 'D'))
    expect(chat.task(4).conversation_turn_id).toBe('turn-2')
  })

  it('joins the latest turn when none runs', () => {
    const chat = leftOver()
    chat.run({ type: 'open_turn', turn_id: 'turn-2' })
    chat.run(chat.adds('person', 'D'))
    expect(chat.task(4).conversation_turn_id).toBe('turn-2')
  })

  it('is refused without a turn', () => {
    const chat = new Driver()
    expect(chat.refusal(chat.adds('person', 'A')).code).toBe('no_turn')
  })
})
