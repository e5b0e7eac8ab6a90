import { describe, expect, it } from 'vitest'
import { approved, NPM, Plan, TICK } from '../../../test/support/checked-plan.ts'
import {
  cancels,
  dataOf,
  Driver,
  finishes,
  inRun,
  outside,
  SOME_MODEL,
  START,
  starts,
  typesOf,
  underReview,
} from '../../../test/support/domain.ts'
import type { Command } from '../model/command.ts'
import { isParked } from '../model/conversation.ts'
import type { PolicyPatch, ToolsetName } from '../model/policy.ts'
import { BY_PLAN } from '../../../test/support/asked-by.ts'
import type { SubmittedRow } from '../model/review.ts'
import type { TaskStatus } from '../model/task.ts'
import type { TurnStatus } from '../model/turn.ts'

const opens = (turn_id: string, toolset?: ToolsetName): Command => ({ type: 'open_turn', turn_id, toolset })
const setsPolicy = (policy: PolicyPatch, by: 'person' | 'model' = 'person'): Command => ({
  type: 'set_policy',
  by,
  policy,
})
const says = (turn_id: string): Command => {
  const data = { message_id: 'm-2', role: 'assistant', text: 'Hello' } as const
  return { type: 'record', turn_id, fact: { type: 'message_added', data } }
}
const stops = (turn_id: string): Command => ({ type: 'stop_turn', turn_id })

describe('a turn', () => {
  it('starts with its request, the policy it runs under, and the model', () => {
    const chat = new Driver()
    const events = chat.start('turn-1', { toolset: 'checklist' })
    expect(typesOf(events)).toEqual(['policy_set', 'turn_started'])
    expect(events[1]?.turn_id).toBe('turn-1')
    expect(events[1]?.data).toStrictEqual({
      turn_id: 'turn-1',
      plan_id: 'turn-1',
      message_id: 'message-1',
      message: 'Do it',
      policy: chat.state.policy,
      model: SOME_MODEL,
    })
    expect(chat.state).toMatchObject({ running_turn: 'turn-1', latest_turn: 'turn-1' })
    const turn = { id: 'turn-1', plan_id: 'turn-1', status: 'running', stop_requested: false, started_at: START }
    expect(chat.state.turns.get('turn-1')).toStrictEqual({ ...turn, model: SOME_MODEL })
  })

  it('[ID1] has an id of 1 to 128 plain characters', () => {
    const invalid: readonly unknown[] = ['', 'a b', '../x', 'x'.repeat(129), 7]
    for (const id of invalid as readonly string[]) {
      for (const command of [starts(id), opens(id)]) {
        const refusal = new Driver().refusal(command)
        expect([refusal.code, refusal.data]).toMatchObject(['invalid_id', { field: 'turn_id' }])
      }
    }
    new Driver().start('x'.repeat(128))
  })

  it('has an id that is unique in its conversation', () => {
    const chat = inRun()
    expect(chat.refusal(starts('turn-1')).code).toBe('turn_conflict')
    chat.finish('turn-1')
    expect(chat.refusal(starts('turn-1')).code).toBe('turn_conflict')
    const elsewhere = outside()
    expect(elsewhere.refusal(starts('turn-1')).code).toBe('turn_conflict')
  })

  it('[TU2] while one runs or is parked another is turn_running', () => {
    for (const chat of [inRun(), underReview('A')]) {
      expect(chat.refusal(starts('turn-2')).code).toBe('turn_running')
      chat.finish('turn-1')
      chat.start('turn-2')
    }
  })

  it('[TU2] and so are tool calls from outside', () => {
    const chat = outside()
    chat.start('turn-2')
    const call = chat.edits('model', { turn_id: 'turn-1', create: [{ id: chat.id(), title: 'A' }] })
    expect(chat.refusal(opens('turn-3')).code).toBe('turn_running')
    expect(chat.refusal(opens('turn-1')).code).toBe('turn_running')
    expect(chat.refusal(call).code).toBe('turn_running')
    chat.finish('turn-2')
    chat.run(opens('turn-3'))
    chat.run({ ...call, review: { ...BY_PLAN, review_id: 'r', tool_call_id: 'c' } })
  })

  it('[TU2] two turns of outside agents do not block each other', () => {
    const chat = outside()
    chat.run(opens('turn-2'))
    chat.run(chat.edits('model', { turn_id: 'turn-1', create: [{ id: chat.id(), title: 'A' }] }))
    expect(chat.task(1).conversation_turn_id).toBe('turn-1')
  })

  it('opens once for an agent elsewhere', () => {
    const chat = new Driver()
    expect(typesOf(chat.run(opens('turn-1', 'checklist')))).toEqual(['policy_set', 'turn_opened'])
    expect(chat.run(opens('turn-1'))).toEqual([])
    expect(chat.state).toMatchObject({ running_turn: null, latest_turn: 'turn-1' })
  })

  it('is parked while a review waits in it', () => {
    const chat = underReview('A')
    expect(isParked(chat.state, 'turn-1')).toBe(true)
    expect(isParked(chat.state, 'turn-2')).toBe(false)
    chat.run(cancels())
    expect(isParked(chat.state, 'turn-1')).toBe(false)
    expect(chat.state.running_turn).toBe('turn-1')
  })

  it('a model cannot speak in one that is not there', () => {
    const chat = inRun()
    expect(chat.refusal(chat.edits('model', { turn_id: 'turn-9', create: [] })).code).toBe('turn_not_found')
    const { turn_id: _, ...nowhere } = chat.edits('model', { create: [] })
    expect(chat.refusal(nowhere).code).toBe('turn_not_found')
  })
})

describe('stopping', () => {
  it('[TU4] is an event; the turn runs until it is finished', () => {
    const chat = inRun()
    expect(chat.run(stops('turn-1'))).toMatchObject([
      { type: 'turn_stop_requested', turn_id: 'turn-1', data: { turn_id: 'turn-1' } },
    ])
    expect(chat.state.turns.get('turn-1')).toMatchObject({ status: 'running', stop_requested: true })
  })

  it('[TU4] repeated, or after the end, changes nothing', () => {
    const chat = inRun()
    chat.run(stops('turn-1'))
    expect(chat.run(stops('turn-1'))).toEqual([])
    const over = inRun()
    over.finish('turn-1')
    expect(over.run(stops('turn-1'))).toEqual([])
  })

  it('a stopped turn of an outside agent takes no more calls; another turn does', () => {
    const chat = outside()
    chat.run(stops('turn-1'))
    expect(chat.refusal(opens('turn-1')).code).toBe('turn_finished')
    expect(typesOf(chat.run(opens('turn-2')))).toEqual(['turn_opened'])
  })

  it('[TU4] a turn that is not there is turn_not_found', () => {
    expect(inRun().refusal(stops('turn-9')).code).toBe('turn_not_found')
  })
})

describe('finishing', () => {
  it('counts what became of the plan and leaves open tasks as they are', () => {
    const chat = inRun({ gate: true })
    chat.run(
      chat.adds('person', 'A', 'B', { title: 'C', status: 'completed' }, { title: 'D', status: 'blocked' }, 'E', 'F'),
    )
    chat.run(chat.sets('person', 5, { status: 'cancelled' }))
    chat.run(chat.removes('person', 6))
    const events = chat.finish('turn-1')
    expect(typesOf(events)).toEqual(['turn_finished'])
    expect(events[0]?.data).toStrictEqual({
      turn_id: 'turn-1',
      status: 'incomplete',
      because: 'answered',
      standings: { proven: 0, confirmed: 1, judged: 0, reported: 0 },
      remaining: 2,
      counts: { completed: 1, blocked: 1, disputed: 0, cancelled: 1, removed: 1, open: 2 },
      steps: 3,
      usage: { input_tokens: 10 },
    })
    expect(chat.statuses()).toEqual(['in_progress', 'pending', 'completed', 'blocked', 'cancelled'])
    expect(chat.state.running_turn).toBeNull()
    expect(chat.state.turns.get('turn-1')?.status).toBe('incomplete')
  })

  it('[TU6] a turn that goes on with a plan is judged by all of it', () => {
    const chat = inRun({ gate: true })
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'There is no key.' }))
    chat.finish('turn-1')
    chat.start('turn-2', {}, 'turn-1')
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'Done' }))
    const [finished] = dataOf(chat.finish('turn-2'), 'turn_finished')
    expect(finished).toMatchObject({ status: 'incomplete', counts: { completed: 1, blocked: 1 } })
  })

  it('of a plan that goes on, what an earlier turn did counts, and what a model removed there', () => {
    const endOf = (first: (chat: Driver) => void): string | undefined => {
      const chat = inRun({ gate: true })
      chat.run(chat.adds('model', 'A', 'B'))
      first(chat)
      chat.finish('turn-1')
      chat.start('turn-2', {}, 'turn-1')
      chat.run(chat.sets('person', 2, { status: 'cancelled' }))
      return dataOf(chat.finish('turn-2'), 'turn_finished')[0]?.status
    }
    expect(endOf(chat => chat.run(chat.removes('model', 1)))).toBe('incomplete')
    expect(endOf(chat => chat.run(chat.removes('person', 1)))).toBe('done')
    expect(endOf(chat => chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'Done' })))).toBe('done')
  })

  it('a plan that a model cancelled whole is not done, one that a person cancelled may be', () => {
    const endOf = (by: 'model' | 'person', ...statuses: readonly TaskStatus[]): string | undefined => {
      const chat = inRun({ gate: true })
      chat.run(chat.adds('model', 'A', 'B'))
      for (const [at, status] of statuses.entries()) chat.run(chat.sets(by, at + 1, { status, outcome: 'So it is.' }))
      return dataOf(chat.finish('turn-1'), 'turn_finished')[0]?.status
    }
    expect(endOf('model', 'cancelled', 'cancelled')).toBe('incomplete')
    expect(endOf('model', 'cancelled', 'completed')).toBe('done')
    expect(endOf('person', 'cancelled', 'cancelled')).toBe('done')
  })

  it('an old plan does not count', () => {
    const chat = inRun({ gate: true })
    chat.run(chat.adds('model', 'A'))
    chat.finish('turn-1')
    chat.start('turn-2')
    const [finished] = dataOf(chat.finish('turn-2'), 'turn_finished')
    expect(finished).toMatchObject({ status: 'done', remaining: 0 })
  })

  it('[TU6] a failed turn says why before it ends', () => {
    const chat = inRun()
    const failure = { code: 'provider_error', message: 'The provider answered 500.' }
    const events = chat.run({ ...finishes('turn-1', 'error'), failure })
    expect(typesOf(events)).toEqual(['turn_failed', 'turn_finished'])
    expect(events[0]?.data).toStrictEqual({ turn_id: 'turn-1', ...failure })
    expect(chat.state.turns.get('turn-1')?.status).toBe('failed')
    const silent = inRun()
    expect(dataOf(silent.finish('turn-1', 'error'), 'turn_failed')[0]?.code).toBe('failed')
  })

  it('[TU6] a stopped turn is stopped, and has not failed', () => {
    const chat = inRun()
    expect(typesOf(chat.finish('turn-1', 'stopped'))).toEqual(['turn_finished'])
    expect(chat.state.turns.get('turn-1')?.status).toBe('stopped')
  })

  it('[TU6] a turn of an agent elsewhere is finished by that agent; an unknown one is refused', () => {
    const chat = outside()
    chat.run(finishes('turn-1'))
    expect(chat.state.turns.get('turn-1')?.status).toBe('done')
    expect(inRun().refusal(finishes('turn-9')).code).toBe('turn_not_found')
  })

  it('a finished turn takes no further facts', () => {
    const chat = inRun({ assessor: true })
    chat.run(chat.adds('model', 'A'))
    chat.run(says('turn-1'))
    chat.finish('turn-1')
    const late = [
      says('turn-1'),
      finishes('turn-1'),
      chat.adds('model', 'B'),
      chat.sets('model', 1, { title: 'x' }),
      opens('turn-1'),
      chat.assesses(1),
    ]
    for (const command of late) expect(chat.refusal(command).code, command.type).toBe('turn_finished')
    expect(chat.refusal(says('turn-9')).code).toBe('turn_not_found')
  })

  it('[EV2] a fact of a run is recorded as it was told', () => {
    const chat = inRun()
    expect(chat.run(says('turn-1'))).toStrictEqual([
      {
        type: 'message_added',
        seq: 3,
        timestamp: START,
        session_id: 'chat-1',
        turn_id: 'turn-1',
        data: { message_id: 'm-2', role: 'assistant', text: 'Hello' },
      },
    ])
  })
})

describe('the end of a plan with checks, without gate and assessor', () => {
  /** Agents elsewhere have neither a gate nor an assessor here. */
  const plan = (row: SubmittedRow): Plan => {
    const chat = new Plan(row)
    chat.run({ type: 'set_policy', by: 'person', policy: { gate: false, assessor: false } })
    return chat
  }
  const fails = (chat: Plan): void => {
    chat.runs('failed')
    chat.claims(1)
    chat.runs('failed')
    chat.resumes(1)
  }
  const sets =
    (by: 'model' | 'person', status: TaskStatus) =>
    (chat: Plan): unknown =>
      chat.run(chat.sets(by, 1, { status, outcome: 'So it is.' }))
  const byModel = { blocks: sets('model', 'blocked'), cancels: sets('model', 'cancelled') }
  const proposed: SubmittedRow = { title: 'A', checks: [NPM] }

  it.each<[string, TurnStatus, SubmittedRow, ...((chat: Plan) => unknown)[]]>([
    ['it was claimed in vain, and is open', 'incomplete', approved('A', NPM), fails],
    ['it was claimed in vain, and is blocked', 'incomplete', approved('A', NPM), fails, byModel.blocks],
    ['a model blocked it unclaimed', 'incomplete', approved('A', NPM), chat => chat.runs('failed'), byModel.blocks],
    ['a model cancelled it unclaimed', 'incomplete', approved('A', NPM), chat => chat.runs('failed'), byModel.cancels],
    ['a model cancelled it before its check ran', 'incomplete', approved('A', NPM), byModel.cancels],
    ['nobody ticked it, and a model cancelled it', 'incomplete', approved('A', TICK), byModel.cancels],
    ['a person cancelled it', 'done', approved('A', NPM), fails, sets('person', 'cancelled')],
    [
      'a model cancelled what passed all along',
      'done',
      approved('A', NPM),
      chat => chat.runs('passed'),
      byModel.cancels,
    ],
    ['its check was not approved', 'done', proposed, byModel.cancels],
    ['it has no check, and is blocked', 'done', { title: 'A' }, byModel.blocks],
    ['it was never claimed, and is open', 'done', approved('A', NPM), chat => chat.runs('failed')],
  ])('[TU6] %s: %s', (_, status, row, ...work) => {
    const chat = plan(row)
    for (const does of work) does(chat)
    expect(dataOf(chat.finish('turn-1'), 'turn_finished')[0]?.status).toBe(status)
  })
})

describe('policy', () => {
  it('[PO2] the first turn fixes it: toolset, then host, then what the request names', () => {
    const chat = new Driver()
    chat.run({ ...starts('turn-1', { gate: true }), host: { toolset: 'checklist', review: true } } as Command)
    expect(chat.state.policy).toMatchObject({ toolset: 'checklist', review: true, assessor: false, gate: true })
    expect(dataOf(chat.log, 'policy_set')).toStrictEqual([{ policy: chat.state.policy, by: 'person' }])
  })

  it('[PO2] so does the first call from outside', () => {
    const chat = outside('turn_todos', { review: true })
    expect(chat.state.policy).toMatchObject({ toolset: 'turn_todos', review: true, gate: true })
    expect(dataOf(chat.log, 'policy_set')).toMatchObject([{ by: 'model' }])
  })

  it('[PO2] a later turn changes what it names, and the rest stays', () => {
    const chat = inRun({ toolset: 'task_manager', max_steps: 7 })
    chat.finish('turn-1')
    const before = chat.state.policy
    expect(typesOf(chat.start('turn-2', {}))).toEqual(['turn_started'])
    chat.finish('turn-2')
    expect(typesOf(chat.start('turn-3', { review: true }))).toEqual(['policy_set', 'turn_started'])
    expect(chat.state.policy).toStrictEqual({ ...before, review: true })
  })

  it('[PO2] a person sets it, even before the first turn; the same again is not an event', () => {
    const chat = new Driver()
    const events = chat.run({
      type: 'set_policy',
      by: 'person',
      policy: { gate: false },
      host: { toolset: 'turn_todos' },
    })
    expect(events).toMatchObject([{ type: 'policy_set', turn_id: null, data: { by: 'person' } }])
    expect(chat.state.policy).toMatchObject({ toolset: 'turn_todos', gate: false })
    expect(chat.run(setsPolicy({ gate: false }))).toEqual([])
    chat.run(opens('turn-1', 'turn_todos'))
    expect(chat.state.policy).toMatchObject({ gate: false })
  })

  it('[PO4] it is set between turns', () => {
    const chat = inRun()
    expect(chat.refusal(setsPolicy({ gate: true })).code).toBe('turn_running')
    chat.finish('turn-1')
    chat.run(setsPolicy({ gate: true }))
    expect(chat.state.policy?.gate).toBe(true)
  })

  it('[PO4] only a person sets it', () => {
    const chat = outside()
    expect(chat.refusal(setsPolicy({ review: false }, 'model')).code).toBe('persons_only')
  })

  it('manage_todos without the assessor is refused on every way in', () => {
    const without = { toolset: 'manage_todos', assessor: false } as const
    const chat = new Driver()
    expect(chat.refusal(starts('turn-1', without)).code).toBe('assessor_required')
    expect(chat.refusal(setsPolicy(without)).code).toBe('assessor_required')
    const call = { type: 'open_turn', turn_id: 'turn-1', toolset: 'manage_todos', host: { assessor: false } } as const
    expect(chat.refusal(call).code).toBe('assessor_required')
    expect(chat.log).toEqual([])
  })

  it('a call from outside with another toolset is persons_only', () => {
    const chat = outside('checklist')
    expect(chat.refusal(opens('turn-1', 'runsheet')).code).toBe('persons_only')
    expect(chat.refusal(opens('turn-2', 'runsheet')).code).toBe('persons_only')
    chat.run(opens('turn-2', 'checklist'))
  })

  it('in a new conversation the toolset that the host fixed is the one', () => {
    const chat = new Driver()
    const host = { toolset: 'checklist' } as const
    expect(chat.refusal({ ...opens('turn-1', 'runsheet'), host } as Command).code).toBe('persons_only')
    expect(chat.log).toEqual([])
    chat.run({ ...opens('turn-1', 'checklist'), host } as Command)
    expect(chat.state.policy?.toolset).toBe('checklist')
  })
})
