import type { Command, CommandOf, Learnt, NewTask, TaskChange } from '../../src/core/model/command.ts'
import { emptyConversation, fold, listed, stamped, type Conversation } from '../../src/core/model/conversation.ts'
import type { AskedClaim } from '../../src/core/decide/claims.ts'
import { decide } from '../../src/core/decide/index.ts'
import { attempt, settled, type Wait } from '../../src/core/decide/settle.ts'
import { findTask } from '../../src/core/decide/tasks.ts'
import { Refusal } from '../../src/core/model/refusal.ts'
import { claimsOf } from '../../src/core/proof/claims.ts'
import type { EventData, EventType, NewEvent, StoredEvent } from '../../src/core/model/event.ts'
import type { SomeFields } from '../../src/core/model/fields.ts'
import { plusMs, type Instant } from '../../src/core/model/instant.ts'
import type { PolicyPatch, ToolsetName } from '../../src/core/model/policy.ts'
import type { SubmittedRow } from '../../src/core/model/review.ts'
import { freeze } from '../../src/core/model/snapshot.ts'
import type { Task, TaskStatus } from '../../src/core/model/task.ts'
import type { EndReason } from '../../src/core/model/turn.ts'
import { BY_PLAN } from './asked-by.ts'

export const START: Instant = '2026-11-02T09:00:00.000Z'
export const SOME_MODEL = 'demo:one'

type Editor = CommandOf<'edit_tasks'>['by']
type EditExtras = Partial<Omit<CommandOf<'edit_tasks'>, 'type' | 'by'>>
type Assessment = Partial<Omit<CommandOf<'assess_task'>, 'type'>>
type Edit = CommandOf<'edit_tasks'>

/** Settles the claims of a call and applies it. No events while a claim needs more. */
export type SettleCall = Learnt & {
  readonly type: 'settle_call'
  readonly turn_id: string
  readonly tool_call_id: string
}

export function settlesIn(state: Conversation, call: SettleCall, now: Instant): readonly NewEvent[] {
  if (claimsOf(state, call.turn_id, call.tool_call_id).length === 0) return []
  const done = settled(state, call, call, now)
  return 'needs' in done ? [] : done.events
}

/** One conversation under test: its state, its log, and a clock that only the test moves. */
export class Driver {
  state: Conversation = emptyConversation('chat-1')
  now: Instant = START
  readonly log: StoredEvent[] = []
  #drawn = 0

  /** The events of a command, or its refusal. */
  ask(command: Command | SettleCall): StoredEvent[] | Refusal {
    const decided =
      command.type === 'settle_call' ? settlesIn(this.state, command, this.now) : decide(this.state, command, this.now)
    if (decided instanceof Refusal) return decided
    const events = stamped(this.state, decided, this.now)
    this.state = fold(this.state, events)
    this.log.push(...events)
    return events
  }

  /** For commands that must be accepted. */
  run(command: Command | SettleCall): StoredEvent[] {
    const answer = this.ask(command)
    if (answer instanceof Refusal) throw answer
    return answer
  }

  /** For commands that must be refused. */
  refusal(command: Command): Refusal {
    const answer = this.ask(command)
    if (answer instanceof Refusal) return answer
    throw new Error(`${command.type} was taken: ${answer.map(event => event.type).join(', ') || 'no event'}`)
  }

  wait(ms: number): this {
    this.now = plusMs(this.now, ms)
    return this
  }

  /** UUIDv7s that count up. */
  id(): string {
    this.#drawn += 1
    return idOf(this.#drawn)
  }

  task(number: number): Task {
    const task = findTask(this.state, number)
    if (!task) throw new Error(`There is no task ${number}`)
    return task
  }

  titles(turnId?: string): string[] {
    return listed(this.state, turnId).map(task => task.title)
  }

  statuses(turnId?: string): TaskStatus[] {
    return listed(this.state, turnId).map(task => task.status)
  }

  start(turn_id: string, policy: PolicyPatch = {}, continue_turn_id?: string): StoredEvent[] {
    return this.run(starts(turn_id, policy, continue_turn_id))
  }

  finish(turn_id: string, because: EndReason = 'answered'): StoredEvent[] {
    return this.run(finishes(turn_id, because))
  }

  /** The agent gets an answer, and has seen everything up to here. */
  answer(turn_id = this.#turn()): void {
    const data = { tool_call_id: 'call-1', tool: 'list', result: null, duration_ms: 3, ok: true }
    this.run({ type: 'record', turn_id, fact: { type: 'tool_answered', data } })
  }

  adds(by: Editor, ...rows: readonly (string | SomeFields)[]): CommandOf<'edit_tasks'> {
    return this.edits(by, { create: rows.map(row => this.#row(row)) })
  }

  sets(by: Editor, task: string | number, fields: SomeFields, more: Partial<TaskChange> & EditExtras = {}): Edit {
    const { if_version, if_open, ...extras } = more
    return this.edits(by, { change: [{ task, fields, if_version, if_open }], ...extras })
  }

  removes(by: Editor, task: string | number, if_version?: number): Command {
    return this.edits(by, { remove: [{ task, if_version }] })
  }

  /** A model edits in the latest turn, with the ids that a review would need. */
  edits(by: Editor, edit: EditExtras): CommandOf<'edit_tasks'> {
    if (by !== 'model') return { type: 'edit_tasks', by, ...edit }
    const review = { ...BY_PLAN, review_id: 'review-1', tool_call_id: 'call-1' }
    return { type: 'edit_tasks', by, turn_id: this.#turn(), review, ...edit }
  }

  confirms(tasks: readonly SubmittedRow[], more: Partial<CommandOf<'decide_review'>> = {}): Command {
    const ids = tasks.map(() => this.id())
    return {
      type: 'decide_review',
      review_id: 'review-1',
      decision: { action: 'confirm', tasks },
      via: 'http',
      ids,
      ...more,
    }
  }

  assesses(task: string | number, assessment: Assessment = {}): Command {
    const said = { verdict: 'ok', reason: '', model: 'demo:judge', seal: 'sealed' } as const
    return { type: 'assess_task', turn_id: this.#turn(), task, ...said, ...assessment }
  }

  /** What of a model's edit has to be settled first. */
  asked(edit: Edit): readonly AskedClaim[] {
    const tried = attempt(this.state, edit, this.now)
    if (tried instanceof Refusal) throw tried
    return tried.made.open
  }

  /** A model's call is held with its claims. */
  holds(edit: Edit, tool_call_id = 'call-9'): StoredEvent[] {
    const { type: _type, by: _by, review: _review, order: _order, turn_id = '', basis, ...held } = edit
    const claims = this.asked(edit).map(({ task: task_id, status, outcome, judge }) => ({
      claim_id: `claim-${task_id}`,
      task_id,
      status,
      outcome,
      seal: 's',
      ...(judge ? { judge } : {}),
    }))
    const made = { turn_id, tool_call_id, basis: basis ?? this.state.answered_seq, claims }
    return this.run({
      ...made,
      type: 'make_claims',
      held: { toolset: this.state.policy?.toolset ?? 'runsheet', tool: 'update', edit: held, items: 0 },
    })
  }

  /** Settles a held call: its events, what its caller is told if it is refused, or what it waits for. */
  settlesCall(tool_call_id = 'call-9', learnt: Learnt = {}, turn_id = this.#turn()): StoredEvent[] | Refusal | Wait {
    const command = { type: 'settle_call', turn_id, tool_call_id, ...learnt } as const
    const done = settled(this.state, command, command, this.now)
    if ('needs' in done) return done
    const events = this.run(command)
    return done.refusal ?? done.refusals.get(0) ?? events
  }

  /** A model claims a task, and the judge rules on that; what does not pass is not claimed. */
  judges(
    task: string | number,
    { fields = {}, ...assessment }: Assessment & { fields?: SomeFields } = {},
  ): StoredEvent[] {
    const known = findTask(this.state, task)
    const change = [{ task, fields: { status: 'completed' as const, outcome: 'It is done', ...fields } }]
    const edit = this.edits('model', { change })
    const isClaimed = (assessment.verdict ?? 'ok') === 'ok' && known !== undefined && isOpenOrBlocked(known)
    if (!isClaimed) return this.run(this.assesses(task, assessment))
    const before = this.log.length
    this.holds(edit, 'judged')
    this.run(this.assesses(task, assessment))
    this.settlesCall('judged')
    return this.log.slice(before).filter(({ type }) => !type.startsWith('claim_'))
  }

  #row(row: string | SomeFields): NewTask {
    return { id: this.id(), ...(typeof row === 'string' ? { title: row } : row) }
  }

  #turn(): string {
    return this.state.latest_turn ?? 'turn-1'
  }
}

const isOpenOrBlocked = ({ status }: Task): boolean => status !== 'completed' && status !== 'cancelled'

/** A turn of our own, without review, assessor and gate unless the test asks for them. */
export function inRun(policy: PolicyPatch = {}): Driver {
  const chat = new Driver()
  chat.start('turn-1', { review: false, assessor: false, gate: false, ...policy })
  return chat
}

/** A turn of an outside agent. */
export function outside(toolset: ToolsetName = 'runsheet', host: PolicyPatch = { review: false }): Driver {
  const chat = new Driver()
  chat.run({ type: 'open_turn', turn_id: 'turn-1', toolset, host })
  return chat
}

/** A turn with a pending review of these rows, which waits for two minutes. */
export function underReview(...rows: readonly (string | SomeFields)[]): Driver {
  const chat = inRun({ review: true, review_timeout_ms: 120_000, panel_grace_ms: 15_000 })
  chat.run(chat.adds('model', ...rows))
  return chat
}

export const idOf = (n: number): string => `019a4f3c-7e10-7000-8000-${n.toString(16).padStart(12, '0')}`

export function starts(turn_id: string, policy: PolicyPatch = {}, continue_turn_id?: string): Command {
  return {
    type: 'start_turn',
    turn_id,
    message_id: 'message-1',
    message: 'Do it',
    model: SOME_MODEL,
    policy,
    continue_turn_id,
  }
}

export function finishes(turn_id: string, because: EndReason = 'answered'): CommandOf<'finish_turn'> {
  return { type: 'finish_turn', turn_id, because, steps: 3, usage: { input_tokens: 10 } }
}

export function cancels(decision: { reason?: string; comment?: string } = {}): CommandOf<'decide_review'> {
  return {
    type: 'decide_review',
    review_id: 'review-1',
    decision: { action: 'cancel', ...decision },
    via: 'http',
    ids: [],
  }
}

export const typesOf = (events: readonly StoredEvent[]): EventType[] => events.map(event => event.type)

/** The data of the events of one type. */
export function dataOf<T extends EventType>(events: readonly StoredEvent[], type: T): EventData[T][] {
  return events.filter(event => event.type === type).map(event => event.data as EventData[T])
}

/** The recorded author of each task event, by task number. */
export function authors(events: readonly StoredEvent[]): (readonly [number, string])[] {
  return events.flatMap(({ data }) => ('task' in data && 'by' in data ? [[data.task.number, data.by] as const] : []))
}

/** A state as plain data: tables are opaque to comparisons, and their order is not part of the state. */
export function plain(state: Conversation): unknown {
  const tables = Object.entries(state).map(([name, value]) => [name, isTable(value) ? sorted(value.entries()) : value])
  return Object.fromEntries(tables) as unknown
}

/** What `freeze` writes, with its tables in the order of their keys. */
export function frozen(state: Conversation): unknown {
  const raw = JSON.parse(freeze(state)) as Record<string, unknown>
  const entries = Object.entries(state).map(([name, value]) => {
    return [name, isTable(value) ? sorted(Object.entries(raw[name] as object)) : raw[name]]
  })
  return Object.fromEntries(entries) as unknown
}

interface Entries {
  entries(): Iterable<readonly [string, unknown]>
}

const isTable = (value: unknown): value is Entries =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && 'entries' in value

const sorted = (entries: Iterable<readonly [string, unknown]>): unknown[] =>
  [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
