import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Command, CommandOf } from '../src/core/model/command.ts'
import { emptyConversation, fold, type Conversation } from '../src/core/model/conversation.ts'
import type { AskedClaim } from '../src/core/decide/claims.ts'
import { edited } from '../src/core/decide/tasks.ts'
import { planIdOf } from '../src/core/model/plan.ts'
import type { OpenClaim } from '../src/core/proof/proof.ts'
import { needsOf } from '../src/core/model/needs.ts'
import { captures } from '../src/core/model/policy.ts'
import { Refusal } from '../src/core/model/refusal.ts'
import type { StoredEvent } from '../src/core/model/event.ts'
import { plusMs } from '../src/core/model/instant.ts'
import { freeze, snapshotOf, thaw } from '../src/core/model/snapshot.ts'
import { NEXT, SEALED, isOpen, type Task, type TaskStatus } from '../src/core/model/task.ts'
import { threadOf, type ThreadItem } from '../src/core/views/thread.ts'
import { isId } from '../src/core/model/text.ts'
import type { Message } from '../src/core/views/transcript.ts'
import { countedAs, isRunning } from '../src/core/model/turn.ts'
import { view, type View } from '../src/core/views/view.ts'
import { commitOf } from '../src/store/store.ts'
import { rowsOf, type TurnRow } from '../src/store/rows.ts'
import { inLongRun } from './support/children.ts'
import { conversations, resolved, type Drawn } from './support/commands.ts'
import { Driver, dataOf, plain, type SettleCall } from './support/domain.ts'

const RUNS = inLongRun(500, 50)

const COMMANDS = words(`
  set_policy open_turn start_turn stop_turn record finish_turn edit_tasks assess_task
  decide_review extend_review expire_review show_panel leave_panel undo_change
  send_message edit_queued withdraw_queued send_queued deliver_queued`)
const EVENTS = words(`
  policy_set turn_opened turn_started turn_stop_requested turn_failed turn_finished tool_answered
  task_created task_changed task_removed task_assessed task_create_review_required task_create_review_resolved
  review_panel_opened review_panel_left review_extended
  message_queued queued_message_edited queued_message_withdrawn queue_released`)
// All that so few commands can lead to: not the limits of a batch, of open tasks or of claims, or a conversation without a turn.
const CODES = words(`
  invalid_id invalid_field batch_empty two_in_progress task_not_found task_settled status_not_allowed outcome_required
  version_mismatch edited_by_person reviewed_tasks_are_fixed rejected_task_stays
  settled_by_person assessor_required persons_only
  turn_not_found turn_running turn_conflict turn_finished review_not_found review_already_decided review_expired
  review_without_deadline not_undoable no_own_turn message_not_found message_changed`)

/** One command that was run: the state it met, what came of it, and the conversation after it. */
interface Step {
  readonly chat: Driver
  readonly before: Conversation
  readonly command: Command | SettleCall
  readonly answer: StoredEvent[] | Refusal
  /** The events, none if it was refused. */
  readonly events: readonly StoredEvent[]
}

describe('the log', () => {
  it('[EV1] state is the fold of the log as it was stored', () => {
    always(({ chat }) => {
      const stored = JSON.parse(JSON.stringify(chat.log)) as StoredEvent[]
      same(fold(emptyConversation('chat-1'), stored), chat.state)
    })
  })

  it('[EV1] a snapshot at any moment goes on like the state it was taken from', () => {
    const twins = new WeakMap<Driver, Conversation>()
    always(({ chat, events }) => {
      const twin = fold(thaw(freeze(twins.get(chat) ?? emptyConversation('chat-1'))), events)
      twins.set(chat, twin)
      same(twin, chat.state)
    })
  })

  it('[EV1] seq has no hole, and every event carries its moment and its conversation', () => {
    always(({ chat, before, events }) => {
      expect(events.map(event => event.seq)).toEqual(events.map((_, index) => before.seq + 1 + index))
      expect(chat.state.seq).toBe(chat.log.length)
      for (const event of events) expect([event.timestamp, event.session_id]).toEqual([chat.now, 'chat-1'])
    })
  })

  it('[EV4] deciding changes nothing by itself, and a refusal nothing at all', () => {
    const seen = new WeakMap<Conversation, unknown>()
    always(({ chat, before, answer }) => {
      if (answer instanceof Refusal) expect(chat.state).toBe(before)
      if (seen.has(before)) expect(isDeepStrictEqual(plain(before), seen.get(before))).toBe(true)
      seen.set(chat.state, structuredClone(plain(chat.state)))
    })
  })

  it('[EV4] whatever comes in, the answer is events or a refusal with a reason', () => {
    always(({ answer }) => {
      if (answer instanceof Refusal) expect(answer.message).toMatch(/\.$/)
    }, 4 * RUNS)
  })
})

describe('tasks', () => {
  it('[ID2] numbers and ids are never used again', () => {
    always(({ chat }) => {
      const created = dataOf(chat.log, 'task_created').map(({ task }) => task)
      const numbers = created.map(task => task.number)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(new Set(numbers).size).toBe(created.length)
      expect(new Set(created.map(task => task.id)).size).toBe(created.length)
    })
  })

  it('[TA10] a removed task is marked, and comes back only if a person undoes its removal', () => {
    always(({ chat, before, command, events }) => {
      for (const { task } of dataOf(events, 'task_removed')) {
        expect(task.removed_at).toBe(task.updated_at)
        expect(chat.state.tasks.has(task.id)).toBe(false)
      }
      const created = new Set(dataOf(events, 'task_created').map(({ task }) => task.id))
      for (const { task } of dataOf(events, 'task_changed')) {
        if (!before.tasks.has(task.id) && !created.has(task.id))
          expect([command.type, task.removed_at]).toEqual(['undo_change', undefined])
      }
    })
  })

  it('[TA21] to undo an undo is to have the change again, and nothing else', () => {
    always(({ chat, before, command, events }) => {
      const change =
        command.type === 'undo_change' ? events.find(({ data }) => 'by' in data && data.by === 'person') : null
      if (!change || !('task' in change.data)) return
      const twin = Object.assign(new Driver(), { state: chat.state, now: plusMs(chat.now, 1) })
      const again = twin.ask({ type: 'undo_change', change: change as CommandOf<'undo_change'>['change'] })
      if (again instanceof Refusal) throw again
      const { id } = change.data.task
      expect(twin.state.tasks.has(id)).toBe(before.tasks.has(id))
      const said = (state: Conversation): unknown => SEALED.map(field => state.tasks.get(id)?.[field])
      expect(said(twin.state)).toEqual(said(before))
    })
  })

  it('[TA11] a call is one event and one version step for each task', () => {
    always(({ before, events }) => {
      for (const call of callsIn(before, events)) {
        const touched = taskEvents(call.events)
        expect(new Set(touched.map(({ task }) => task.id)).size).toBe(touched.length)
        for (const { task } of touched) expect(task.version).toBe((knownIn(call.before, task.id)?.version ?? 0) + 1)
      }
    })
  })

  it('[TA11] `from` holds what the changed fields were, and no other field changed', () => {
    always(({ before, events }) => {
      let state = before
      for (const event of events) {
        const was = state
        state = fold(state, [event])
        if (event.type !== 'task_changed') continue
        const { task, from } = event.data
        const fields = fieldsOf(knownIn(was, task.id))
        const now = fieldsOf(task)
        const changed = [...new Set([...fields.keys(), ...now.keys()])].filter(
          field => !isDeepStrictEqual(fields.get(field), now.get(field)),
        )
        expect(changed.length).toBeGreaterThan(0)
        expect(from).toStrictEqual(Object.fromEntries(changed.map(field => [field, fields.get(field) ?? null])))
      }
    })
  })

  it('[TA1] a status follows another as the table says, each time that the call names the task', () => {
    always(({ before, command, events }) => {
      for (const { task, from } of dataOf(events, 'task_changed')) {
        // What is undone is as it was, however it came to that.
        if (from['status'] === undefined || command.type === 'undo_change') continue
        const status = from['status'] as TaskStatus
        expect([...reachable(status, timesNamed(before, command, task))]).toContain(task.status)
      }
    })
  })

  it('[CU5] the rules themselves change only the current task and positions', () => {
    always(({ events }) => {
      for (const { by, from, task } of dataOf(events, 'task_changed')) {
        if (by !== 'system') continue
        expect(['status', 'started_at', 'position']).toEqual(expect.arrayContaining(Object.keys(from)))
        if (from['status'] !== undefined)
          expect(isOpen({ status: from['status'] as TaskStatus }) && isOpen(task)).toBe(true)
      }
    })
  })

  it('[PL1] a plan knows its open tasks, those with checks, and how many there are', () => {
    always(({ chat: { state } }) => {
      const all = [...state.tasks.values()]
      expect(all.filter(({ plan_id }) => !state.plans.has(plan_id))).toEqual([])
      for (const plan of state.plans.values()) {
        const tasks = all.filter(({ plan_id }) => plan_id === plan.id)
        const ids = (some: readonly Task[]): string[] => some.map(({ id }) => id).sort()
        const of = (status: string): number => tasks.filter(task => countedAs(task) === status).length
        const { removed, ...counts } = plan.counts
        expect(counts).toEqual({
          completed: of('completed'),
          blocked: of('blocked'),
          disputed: of('disputed'),
          cancelled: of('cancelled'),
          open: of('open'),
        })
        expect([removed >= 0, plan.dropped >= 0]).toEqual([true, true])
        expect([...plan.open].sort()).toEqual(ids(tasks.filter(isOpen)))
        expect([...plan.checked].sort()).toEqual(ids(tasks.filter(({ checks = [] }) => checks.length > 0)))
        expect(new Set(plan.turns).size).toBe(plan.turns.length)
      }
    })
  })

  it('[CU1][CU6] a plan has at most one task in progress, and exactly one as long as one is pending, but for items', () => {
    always(({ chat: { state, log } }) => {
      const hadItems = log.some(({ data }) => 'policy' in data && captures(data.policy))
      const plans = Map.groupBy(state.tasks.values(), ({ plan_id }) => plan_id)
      for (const tasks of plans.values()) {
        const current = tasks.filter(task => task.status === 'in_progress').length
        expect(current).toBeLessThanOrEqual(1)
        if (!hadItems && tasks.some(task => task.status === 'pending')) expect(current).toBe(1)
      }
    })
  })

  it('[TA3] the index of open tasks holds the open tasks', () => {
    always(({ chat: { state } }) => {
      const open = [...state.tasks.values()].filter(isOpen).map(task => task.id)
      expect(state.open.toSorted()).toEqual(open.toSorted())
    })
  })

  it('no two tasks stand in the same place', () => {
    always(({ chat: { state } }) => {
      const positions = [...state.tasks.values()].map(task => task.position)
      expect(new Set(positions).size).toBe(positions.length)
    })
  })
})

describe('who has a say', () => {
  it('[PO9][RE1] with review on, no model ever creates a task, nor rewords or removes one', () => {
    always(({ before, command, events }) => {
      const byModel = command.type === 'edit_tasks' && command.by === 'model'
      if (!before.policy?.review || !byModel) return
      expect(dataOf(events, 'task_created')).toEqual([])
      expect(dataOf(events, 'task_removed')).toEqual([])
      for (const { by, from } of dataOf(events, 'task_changed')) {
        if (by !== 'model') continue
        const allowed = ['status', 'outcome', 'judged_by', 'started_at', 'completed_at']
        expect(allowed).toEqual(expect.arrayContaining(Object.keys(from)))
      }
    })
  })

  it('[RE1] tasks come from a confirm of a pending review, a person, a file, or a model without review', () => {
    always(({ before, command, events }) => {
      if (dataOf(events, 'task_created').length === 0) return
      if (command.type === 'decide_review') {
        expect(command.decision.action).toBe('confirm')
        expect(before.reviews.get(command.review_id)?.status).toBe('pending')
      } else expect(['edit_tasks', 'settle_call']).toContain(command.type)
    })
  })

  it('[AS1] in a run with the assessor on, no task becomes completed or cancelled by the model', () => {
    always(({ before, command, events }) => {
      const isModels = command.type === 'settle_call' || (command.type === 'edit_tasks' && command.by === 'model')
      if (!isModels || !before.policy?.assessor) return
      const turn = before.turns.get(command.turn_id ?? '')
      if (!turn || !isRunning(turn)) return
      const passed = new Set([...before.claims.values()].filter(isPassed).map(({ task_id }) => task_id))
      for (const { task, type, by, from } of taskEvents(events)) {
        if (task.status !== 'completed' && task.status !== 'cancelled') continue
        expect(type).not.toBe('task_created')
        if (type === 'task_changed' && 'status' in from) expect([by, passed.has(task.id)]).toEqual(['assessor', true])
      }
    })
  })

  it('rejections fall only where a person or a file changed the task', () => {
    always(({ chat, before, events }) => {
      const changed = taskEvents(events).filter(({ by }) => by === 'person' || by === 'file')
      const theirs = new Set(changed.map(({ task }) => task.id))
      for (const [id, count] of before.rejections.entries()) {
        if (!theirs.has(id)) expect(chat.state.rejections.get(id)).toBeGreaterThanOrEqual(count)
      }
    })
  })

  it('[AS9] a model never removes a task that was rejected', () => {
    always(({ before, events }) => {
      for (const { task, by } of dataOf(events, 'task_removed')) {
        if (by === 'model') expect(before.rejections.has(task.id)).toBe(false)
      }
    })
  })

  it('[TA19] what was settled keeps its verdict only with the text that it was about', () => {
    always(({ before, events }) => {
      for (const { task, by, from } of dataOf(events, 'task_changed')) {
        const judge = before.tasks.get(task.id)?.judged_by ?? null
        if (by !== 'model' || judge === null || 'status' in from || !SEALED.some(field => field in from)) continue
        expect(task.judged_by).toBeNull()
        // What a person blocked may be taken up and blocked again within one call: then the block is the model's.
        if (judge === 'person') expect(task.status).toBe('blocked')
      }
    })
  })

  it('[TA14] judged_by is who settled the task, and null while it is open', () => {
    always(({ chat, command, events }) => {
      for (const task of chat.state.tasks.values()) if (isOpen(task)) expect(task.judged_by).toBeNull()
      if (command.type === 'undo_change') return
      for (const { task, by, from } of dataOf(events, 'task_changed')) {
        if (from['status'] === undefined || isOpen(task)) continue
        expect(task.judged_by).toBe(by === 'person' || by === 'assessor' ? by : null)
      }
    })
  })

  it("[FE1] a model's write never lands on a person's edit that it did not know of", () => {
    always(({ chat, before, command, events }) => {
      if (command.type !== 'edit_tasks' || command.by !== 'model') return
      const basis = command.basis ?? before.answered_seq
      const edited = chat.log.flatMap(event => {
        const unseen = event.seq > basis && event.seq <= before.seq && event.type === 'task_changed'
        return unseen && (event.data.by === 'person' || event.data.by === 'file') ? [event.data.task.id] : []
      })
      for (const { task, by } of taskEvents(events)) if (by === 'model') expect(edited).not.toContain(task.id)
    })
  })
})

describe('reviews and turns', () => {
  it('[RE10] a review is resolved once, and the pending ones are those that were not', () => {
    always(({ chat: { state, log } }) => {
      const resolutions = dataOf(log, 'task_create_review_resolved').map(({ review_id }) => review_id)
      expect(new Set(resolutions).size).toBe(resolutions.length)
      const pending = [...state.reviews.values()].filter(review => review.status === 'pending')
      expect(state.pending_reviews.toSorted()).toEqual(pending.map(review => review.review_id).toSorted())
      for (const { review_id } of pending) expect(resolutions).not.toContain(review_id)
    })
  })

  it('[RE10] none is confirmed at or after its deadline', () => {
    always(({ chat, before, events }) => {
      for (const { action, review_id } of dataOf(events, 'task_create_review_resolved')) {
        const due = before.reviews.get(review_id)?.expires_at ?? null
        if (action === 'confirm') expect(due === null || chat.now < due).toBe(true)
      }
    })
  })

  it('[TU13] a message to the agent is delivered once, or was taken back, or waits, in the order of the queue', () => {
    always(({ chat: { state, log } }) => {
      const sent = dataOf(log, 'message_queued').map(({ message_id }) => message_id)
      // Ids are the server's, and new: one that the test draws twice tells nothing.
      if (new Set(sent).size < sent.length) return
      const gone = new Set(dataOf(log, 'queued_message_withdrawn').map(({ message_id }) => message_id))
      const ids = log.flatMap(({ type, data }) =>
        type === 'message_added' || type === 'turn_started' ? [data.message_id] : [],
      )
      const delivered = ids.filter(id => sent.includes(id))
      const waiting = state.queued.map(({ message_id }) => message_id)
      expect([...delivered, ...waiting]).toEqual(sent.filter(id => !gone.has(id)))
    })
  })

  it('[TU14] a turn that ended by itself leaves no message behind', () => {
    always(({ chat: { state }, before, command, events }) => {
      if (command.type !== 'finish_turn' || before.queued.length === 0) return
      const [ended] = dataOf(events, 'turn_finished')
      const turn = before.turns.get(command.turn_id)
      const isByItself = ended?.status === 'done' || ended?.status === 'incomplete'
      if (!isByItself || turn?.model === undefined || turn.stop_requested) return
      const { turn_id } = command.next ?? {}
      if (!isId(turn_id) || before.turns.has(turn_id)) return
      expect(planIdOf(state, state.running_turn ?? '')).toBe(planIdOf(before, command.turn_id))
    })
  })

  it('[TU2] at most one turn runs, and a finished one stays finished', () => {
    always(({ chat: { state }, before }) => {
      const running = [...state.turns.values()].filter(isRunning).map(turn => turn.id)
      expect(running).toEqual(state.running_turn === null ? [] : [state.running_turn])
      for (const turn of before.turns.values()) {
        if (turn.status !== 'running' && turn.status !== 'open')
          expect(state.turns.get(turn.id)?.status).toBe(turn.status)
      }
    })
  })
})

describe('the thread', () => {
  it('tells every message once, every decided plan once, and every step once in a turn', () => {
    always(({ chat }) => {
      const shown = view.of(chat.log)
      const thread = threadOf(chat.state, shown)
      const items = thread.flatMap(turn => turn.items.map(item => ({ item, turn: turn.turn_id })))
      const told = items.flatMap(({ item, turn }) => messagesIn(item).map(({ message_id }) => `${turn} ${message_id}`))
      const said = shown.messages.filter(hasText).map(({ turn_id, message_id }) => `${turn_id} ${message_id}`)
      expect(new Set(told)).toEqual(new Set(said))
      expect(told.length).toBe(new Set(told).size)
      const cards = items.flatMap(({ item }) => (item.kind === 'plan' ? [item.card] : []))
      const decided = dataOf(chat.log, 'task_create_review_resolved').map(({ review_id }) => review_id)
      expect(cards.map(({ review_id }) => review_id).toSorted()).toEqual(decided.toSorted())
      for (const { outcome, rows, steps, removed } of cards)
        if (outcome === 'approved') expect(rows.length).toBe(steps + removed)
      for (const { items: own, tally } of thread) {
        const steps = own.flatMap(item => (item.kind === 'step' ? [item.step.task_id] : []))
        expect(new Set(steps).size).toBe(steps.length)
        if (tally) expect(tally.done + tally.blocked + tally.disputed + tally.cancelled + tally.open).toBe(tally.total)
      }
    })
  })

  it('is the same from a snapshot, and folded event by event', () => {
    const known = new WeakMap<Driver, View>()
    always(({ chat, events }) => {
      const folded = events.reduce(view.apply, known.get(chat) ?? view.initial)
      known.set(chat, JSON.parse(JSON.stringify(folded)) as View)
      expect(isDeepStrictEqual(folded, view.of(chat.log))).toBe(true)
      expect(isDeepStrictEqual(threadOf(snapshotOf(chat.state), folded), threadOf(chat.state, folded))).toBe(true)
    })
  })
})

describe('the rows of turns', () => {
  it('[ST9] say what every turn needs, although only those that change are written', () => {
    const written = new WeakMap<Driver, Map<string, TurnRow>>()
    always(({ chat, before, events }) => {
      const rows = written.get(chat) ?? new Map<string, TurnRow>()
      written.set(chat, rows)
      const { turns } = rowsOf(before, chat.state, events.length > 0 ? [commitOf(events)] : [])
      for (const row of turns) rows.set(row.turn, row)
      for (const { id, status } of chat.state.turns.values()) {
        expect(rows.get(id)).toEqual({ turn: id, status, needs: needsOf(chat.state, id) })
      }
    })
  })
})

describe('what is drawn', () => {
  it('every command is both taken and refused, and every kind of event comes about', () => {
    const taken = new Set<string>()
    const refused = new Set<string>()
    const types = new Set<string>()
    for (const drawn of fc.sample(conversations(), { numRuns: 300, seed: 7 })) {
      play(drawn, ({ command, answer, events }) => {
        if (answer instanceof Refusal) refused.add(command.type).add(answer.code)
        else taken.add(command.type)
        for (const event of events) types.add(event.type)
      })
    }
    expect([...taken]).toEqual(expect.arrayContaining(COMMANDS))
    expect([...refused]).toEqual(expect.arrayContaining([...COMMANDS, ...CODES]))
    expect([...types]).toEqual(expect.arrayContaining(EVENTS))
  })
})

/** The calls that a command makes: a decision that goes on with its plan also starts a turn. */
function callsIn(
  before: Conversation,
  events: readonly StoredEvent[],
): readonly { readonly before: Conversation; readonly events: readonly StoredEvent[] }[] {
  const decided = events.findIndex(({ type }) => type === 'task_create_review_resolved')
  const isContinued = decided >= 0 && events.slice(decided).some(({ type }) => type === 'turn_started')
  const made = new Set(dataOf(events, 'task_created').map(({ task }) => task.id))
  // What a call creates as done is created, and then completed.
  const granted = events.findIndex(
    ({ type, data }) => type === 'task_changed' && made.has((data as { task: Task }).task.id),
  )
  const end = isContinued ? decided : granted - 1
  if (end < 0) return [{ before, events }]
  const first = events.slice(0, end + 1)
  return [
    { before, events: first },
    { before: fold(before, first), events: events.slice(end + 1) },
  ]
}

function always(check: (step: Step) => void, numRuns = RUNS): void {
  fc.assert(
    fc.property(conversations(), drawn => play(drawn, check)),
    { numRuns },
  )
}

function play(drawn: readonly Drawn[], check: (step: Step) => void): void {
  const chat = new Driver()
  for (const one of drawn) {
    const before = chat.wait(one.wait).state
    const command = resolved(chat, one)
    const isModels = command.type === 'edit_tasks' && command.by === 'model'
    const tried = isModels ? edited(before, command, chat.now) : undefined
    const claims = tried === undefined || tried instanceof Refusal ? [] : tried.open
    const step = (next: Command | SettleCall, from: Conversation): void => {
      const answer = chat.ask(next)
      check({ chat, before: from, command: next, answer, events: answer instanceof Refusal ? [] : answer })
    }
    if (command.type !== 'edit_tasks' || claims.length === 0) {
      step(command, before)
      continue
    }
    // As the runner does: the call is held, judged, and settled.
    step(held(command, claims), before)
    for (const [index, { task }] of claims.entries()) {
      const verdict = (before.seq + index) % 3 === 0 ? 'not_ok' : 'ok'
      const { turn_id = '' } = command
      const said = { task, verdict, reason: 'Because', model: 'demo', seal: 's' } as const
      step({ ...said, type: 'assess_task', turn_id }, chat.state)
    }
    step({ type: 'settle_call', turn_id: command.turn_id ?? '', tool_call_id: 'held' }, chat.state)
  }
}

function held(edit: CommandOf<'edit_tasks'>, asked: readonly AskedClaim[]): Command {
  const { type: _type, by: _by, review: _review, order: _order, turn_id = '', basis = 0, ...rest } = edit
  const claims = asked.map(({ task: task_id, status, outcome, judge }) => ({
    claim_id: `claim-${task_id}`,
    task_id,
    status,
    outcome,
    seal: 's',
    ...(judge ? { judge } : {}),
  }))
  return {
    type: 'make_claims',
    turn_id,
    tool_call_id: 'held',
    basis,
    claims,
    held: { toolset: 'runsheet', edit: rest, items: 0 },
  }
}

const isPassed = ({ verdict }: OpenClaim): boolean => verdict?.verdict === 'ok'

/** States that hide nothing: equal to the last field, with none that is there and undefined. */
function same(a: Conversation, b: Conversation): void {
  if (!isDeepStrictEqual(plain(a), plain(b))) expect(plain(a)).toStrictEqual(plain(b))
}

/** A task's fields but for the two that every event steps. */
function fieldsOf(task: Task | undefined): Map<string, unknown> {
  const { version: _version, updated_at: _updated, ...fields } = { ...task }
  return new Map(Object.entries(fields))
}

/** A task that is listed, or that a person removed. */
const knownIn = (state: Conversation, id: string): Task | undefined =>
  state.tasks.get(id) ?? state.removed.get(id)?.task

/** The texts in an item of a thread. */
function messagesIn(item: ThreadItem): readonly Message[] {
  if (item.kind === 'message') return [item.message].filter(hasText)
  if (item.kind === 'follow_ups') return item.messages.filter(hasText)
  return item.kind === 'step' ? item.step.items.flatMap(each => (each.kind === 'text' ? [each.message] : [])) : []
}

const hasText = ({ text }: Message): boolean => text !== ''

function taskEvents(events: readonly StoredEvent[]) {
  return events.flatMap(({ type, data }) => {
    if (!('task' in data)) return []
    return [{ type, task: data.task, by: data.by, from: 'from' in data ? data.from : {} }]
  })
}

function timesNamed({ claims }: Conversation, command: Command | SettleCall, task: Task): number {
  const names = (ref: unknown): boolean => ref === task.id || ref === task.number
  if (command.type === 'settle_call') {
    const edits = [...claims.values()].flatMap(({ held }) => held?.edit ?? [])
    return edits
      .flatMap(({ create = [], change = [] }) => [...create.map(({ id }) => id), ...change.map(each => each.task)])
      .filter(names).length
  }
  if (command.type === 'assess_task') return names(command.task) ? 1 : 0
  if (command.type !== 'edit_tasks') return 0
  return (command.change ?? []).filter(change => names(change?.task)).length
}

/** The statuses that so many steps of the table lead to, and a last one that the rules may add: to be current or not. */
function reachable(from: TaskStatus, steps: number): Set<TaskStatus> {
  const reached = new Set([from])
  for (let step = 0; step < steps; step += 1) {
    for (const status of Array.from(reached)) for (const next of NEXT[status]) reached.add(next)
  }
  if (reached.has('pending')) reached.add('in_progress')
  if (reached.has('in_progress')) reached.add('pending')
  return reached
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
