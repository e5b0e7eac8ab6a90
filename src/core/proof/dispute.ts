import type { Conversation, Reading } from '../model/conversation.ts'
import type { StoredEvent } from '../model/event.ts'
import type { TaskFields } from '../model/fields.ts'
import type { Instant } from '../model/instant.ts'
import type { Origin } from '../model/origin.ts'
import { valueIn } from '../model/table.ts'
import { type Actor, ASKED, type Task } from '../model/task.ts'
import type { Turn } from '../model/turn.ts'

/**
 * The way a dispute ended.
 *
 * A person changed what the task asks for, settled it as it is, or insists on it; `withdrawn`: the agent did it after
 * all.
 */
export type DisputeEnd = 'changed' | 'settled' | 'insisted' | 'withdrawn'

/** An agent's word that a task cannot be done as asked, or that its check contradicts it. */
export interface Dispute {
  /** Why, and what was tried. */
  readonly reason: string
  /** The model, or the program elsewhere; null if neither is known. */
  readonly by: string | null
  readonly at: Instant
  /** 1 for the first dispute of the task. */
  readonly count: number
  /** Absent while it waits for a person. */
  readonly ended?: {
    readonly how: DisputeEnd
    readonly at: Instant
    /** The person's comment for the agent. */
    readonly comment?: string
  }
}

/** Disputes of one task by agents. After the last one, only a person moves it. */
export const MAX_DISPUTES = 2

/** True while a dispute of the task waits for a person. */
export const isDisputed = ({ dispute }: Pick<Task, 'dispute'>): boolean => dispute !== undefined && !dispute.ended

/** True if an agent may neither dispute the task again nor end its last dispute. */
export const isDisputedOut = ({ dispute }: Task): boolean => (dispute?.count ?? 0) >= MAX_DISPUTES

/** A dispute that is repeated while it waits keeps its place, with the newer words. */
export function disputed(task: Task, { reason, by }: Pick<Dispute, 'reason' | 'by'>, at: Instant): Task {
  const { dispute } = task
  const next =
    dispute && isDisputed(task) ? { ...dispute, reason } : { reason, by, at, count: (dispute?.count ?? 0) + 1 }
  return { ...task, dispute: next }
}

export const disputantIn = ({ model, client }: Partial<Turn> = {}): string | null => model ?? client ?? null

/** A person's change of one of these ends a dispute: the task is open again. */
// Marked as pure, so that a bundle without uses drops it.
const ANSWERS: ReadonlySet<keyof TaskFields> = /* @__PURE__ */ new Set([...ASKED, 'checks', 'scope'])

export const answersDispute = (task: Task, changed: ReadonlySet<string>, by: Actor): boolean =>
  isDisputed(task) && isPersons(by) && [...ANSWERS].some(field => changed.has(field))

/** Ends the dispute of a task that gets another status. */
export function withoutDispute(before: Task, after: Task, by: Actor, isChanged: boolean, at: Instant): Task {
  const { dispute } = before
  if (!dispute || !isDisputed(before) || after.status === before.status) return after
  return { ...after, dispute: { ...dispute, ended: { how: endOf(after, by, isChanged), at } } }
}

function endOf({ status }: Task, by: Actor, isChanged: boolean): DisputeEnd {
  if (!isPersons(by)) return 'withdrawn'
  if (isChanged) return 'changed'
  return status === 'completed' || status === 'cancelled' ? 'settled' : 'insisted'
}

const isPersons = (by: Actor): boolean => by === 'person' || by === 'file'

/** A person's answer in the words of every edge, to follow the task; undefined while it waits, or without a dispute. */
export function answerText({ dispute, status }: Task): string | undefined {
  const { how, comment } = dispute?.ended ?? {}
  if (how === undefined || how === 'withdrawn') return undefined
  const said = comment === undefined ? '' : `: ${comment}`
  if (how === 'settled') return `a person settled it${status === 'cancelled' ? ' as cancelled' : ''}${said}`
  return how === 'changed' ? `a person changed it after the dispute${said}` : `a person insists on it${said}`
}

/** Tasks whose dispute a person has answered since an agent last got an answer. */
export const unheardAnswers = ({ tasks, edits, answered_seq }: Conversation): readonly Task[] =>
  [...tasks.values()].filter(
    task => answerText(task) !== undefined && (edits.get(task.id)?.['dispute'] ?? 0) > answered_seq,
  )

/** The task that an event disputes for the first, or second, time. */
export function disputeIn({ type, data }: StoredEvent): Task | undefined {
  if (type !== 'task_changed' || !isDisputed(data.task)) return undefined
  const before = data.from['dispute'] as Dispute | null | undefined
  return before !== undefined && before?.count !== data.task.dispute?.count ? data.task : undefined
}

/** A dispute of a task, and the person who answered it. */
export type DisputeReceipt = Omit<Dispute, 'count' | 'ended'> & {
  /** Null while it waits for a person. */
  readonly ended: {
    readonly how: DisputeEnd
    readonly at: Instant
    readonly by: Origin | null
    readonly comment: string | null
  } | null
}

/** The disputes in the events of one task, oldest first. */
export function disputesIn(events: readonly StoredEvent<'task_changed'>[]): readonly DisputeReceipt[] {
  const disputes = new Map<number, DisputeReceipt>()
  for (const { data } of events) {
    const { dispute } = data.task
    if (!dispute || !Object.hasOwn(data.from, 'dispute')) continue
    const { count, ended, ...rest } = dispute
    const answer = ended && { ...ended, by: data.origin ?? null, comment: ended.comment ?? null }
    disputes.set(count, { ...rest, ended: answer ?? null })
  }
  return [...disputes.values()]
}

/** The tasks whose disputes wait, in the order of `ids`. */
export const disputedTasks = ({ tasks, disputed: ids }: Reading<'tasks' | 'disputed'>): readonly Task[] =>
  ids.flatMap(id => valueIn(tasks, id) ?? [])
