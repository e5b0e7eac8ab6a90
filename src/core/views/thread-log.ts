import type { EventData, Json, StoredEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import type { ToolsetName } from '../model/policy.ts'
import { projection } from '../model/log.ts'
import { valueIn } from '../model/table.ts'
import type { TaskStatus } from '../model/task.ts'

/**
 * A mark of an event in a turn, for the thread.
 *
 * Texts are in the messages and decisions in the resolutions; `threadOf` puts them together.
 */
export type Mark =
  /** A person's request. */
  | { readonly kind: 'request'; readonly message_id: string; readonly toolset: ToolsetName }
  /** A message, mostly of the agent; `task_id` is the task that was current at the model call. */
  | { readonly kind: 'said'; readonly message_id: string; readonly task_id?: string }
  /**
   * A task was started or settled in this turn. The mark stands where that first happened and has the task's status at
   * the end of the turn.
   */
  | ({ readonly kind: 'task'; readonly task_id: string } & TaskThen)
  | ({ readonly kind: 'claim' } & Omit<EventData['claim_made'], 'held'> &
      Partial<Pick<EventData['claim_settled'], 'result' | 'because'>>)
  | ({ readonly kind: 'verdict'; readonly at: Instant } & EventData['task_assessed'])
  | ({
      readonly kind: 'run'
      /** The event with all of it. */
      readonly seq: number
    } & Omit<EventData['check_ran'], 'tail' | 'others'>)
  /**
   * A call that an agent elsewhere reported. `subject` is the first text of its arguments; the event has all of them.
   */
  | ({
      readonly kind: 'report'
      /** The event with all of it. */
      readonly seq: number
      /** The first text of its arguments. */
      readonly subject: string
    } & Omit<EventData['evidence_added'], 'arguments' | 'answer'>)
  /** The gate sent the agent back to open tasks, after this message. */
  | { readonly kind: 'follow_up'; readonly message_id?: string }
  /** A proposed plan, with the titles of its rows; without `decided_at` it waits. */
  | {
      readonly kind: 'plan'
      readonly review_id: string
      /** The titles. */
      readonly proposed: readonly string[]
      readonly asked_at: Instant
      /** Absent while it waits. */
      readonly decided_at?: Instant
    }
  | ({ readonly kind: 'failure' } & EventData['turn_failed'])
  | ({ readonly kind: 'end'; readonly at: Instant } & EventData['turn_finished'])

/** A task at the end of a turn. */
export interface TaskThen {
  readonly number: number
  readonly title: string
  /** The status at the end of the turn, or the current one while it goes on. */
  readonly status: TaskStatus | 'removed'
  readonly outcome?: string
}

/** Marks of one kind, or of several. */
export type MarkOf<K extends Mark['kind']> = Extract<Mark, { readonly kind: K }>

/** Turn id to its marks. */
export type ThreadLog = { readonly [turn_id: string]: readonly Mark[] }

type Marks = readonly Mark[]

/** Reports kept for each task. */
const MAX_REPORTS = 50
const MAX_SUBJECT = 200

export const threadLog = /* @__PURE__ */ projection<ThreadLog>({
  initial: {},
  on: {
    turn_opened: (log, { data }) => ({ ...log, [data.turn_id]: [] }),
    turn_started: (log, { data: { turn_id, message_id, policy } }) => ({
      ...log,
      [turn_id]: [{ kind: 'request', message_id, toolset: policy.toolset }],
    }),
    message_added: changing((marks, { data: { message_id, synthetic } }) =>
      synthetic ? marks : said(marks, { message_id }),
    ),
    step_finished: changing((marks, { data: { message_id, task_id } }) =>
      said(marks, task_id === undefined ? { message_id } : { message_id, task_id }),
    ),
    task_created: changing((marks, { data: { task } }) => noted(marks, task, task.status === 'in_progress')),
    task_changed: changing((marks, { data: { task, from } }) =>
      noted(marks, task, Object.hasOwn(from, 'status') && task.status !== 'pending'),
    ),
    task_removed: changing((marks, { data: { task } }) => noted(marks, { ...task, status: 'removed' }, false)),
    claim_made: changing((marks, { data: { held: _held, ...claim } }) => [...marks, { kind: 'claim', ...claim }]),
    claim_settled: changing((marks, { data: { claim_id, result, because } }) =>
      marks.map(mark => (mark.kind === 'claim' && mark.claim_id === claim_id ? { ...mark, result, because } : mark)),
    ),
    task_assessed: changing((marks, { data, timestamp: at }) => [...marks, { kind: 'verdict', at, ...data }]),
    check_ran: changing((marks, { data: { tail: _tail, others: _others, ...run }, seq }) =>
      // A baseline result is no news about the work.
      run.why === 'baseline' ? marks : [...marks, { kind: 'run', seq, ...run }],
    ),
    evidence_added: changing((marks, { data: { arguments: args, answer: _answer, ...call }, seq }) => {
      const [oldest, ...kept] = marks.filter(mark => mark.kind === 'report' && mark.task_id === call.task_id)
      const left = kept.length + 1 < MAX_REPORTS ? marks : marks.filter(mark => mark !== oldest)
      return [...left, { kind: 'report', seq, subject: subjectOf(args), ...call }]
    }),
    gate_followed: changing(marks => {
      const last = marks.findLast(({ kind }) => kind === 'said' || kind === 'follow_up')
      return [...marks, { kind: 'follow_up', ...(last?.kind === 'said' ? { message_id: last.message_id } : {}) }]
    }),
    task_create_review_required: changing((marks, { data: { review_id, draft_tasks }, timestamp: asked_at }) => [
      ...marks,
      { kind: 'plan', review_id, proposed: draft_tasks.map(({ title }) => title), asked_at },
    ]),
    task_create_review_resolved: changing((marks, { data: { review_id }, timestamp: decided_at }) =>
      marks.map(mark => (mark.kind === 'plan' && mark.review_id === review_id ? { ...mark, decided_at } : mark)),
    ),
    turn_failed: changing((marks, { data }) => [...marks, { kind: 'failure', ...data }]),
    turn_finished: changing((marks, { data, timestamp: at }) => [...marks, { kind: 'end', at, ...data }]),
  },
})

function changing<E extends StoredEvent>(change: (marks: Marks, event: E) => Marks) {
  return (log: ThreadLog, event: E): ThreadLog => {
    const { turn_id } = event
    const marks = turn_id !== null && Object.hasOwn(log, turn_id) ? log[turn_id] : undefined
    return turn_id === null || !marks ? log : { ...log, [turn_id]: change(marks, event) }
  }
}

/** A message with a known id replaces the older one in place. */
const said = (marks: Marks, message: Omit<MarkOf<'said'>, 'kind'>): Marks =>
  marks.some(mark => mark.kind === 'said' && mark.message_id === message.message_id)
    ? marks
    : [...marks, { kind: 'said', ...message }]

/**
 * Updates the mark of a task, or adds one. A task that is pending again without any work loses its mark, and gets
 * another when it is started again. A finished turn has no more work.
 */
function noted(marks: Marks, task: { readonly id: string } & TaskThen, isTouched: boolean): Marks {
  if (marks.some(({ kind }) => kind === 'end')) return marks
  const { id: task_id, number, title, status, outcome } = task
  const place = marks.findIndex(mark => mark.kind === 'task' && mark.task_id === task_id)
  if (place < 0 && !isTouched) return marks
  const isWork = (mark: Mark, index: number): boolean =>
    index !== place && 'task_id' in mark && mark.task_id === task_id
  if (status === 'pending' && !marks.some(isWork)) return marks.toSpliced(place, 1)
  const mark: Mark = { kind: 'task', task_id, number, title, status, ...(outcome === undefined ? {} : { outcome }) }
  return place < 0 ? [...marks, mark] : marks.with(place, mark)
}

function subjectOf(args: Json): string {
  const values = typeof args === 'object' && args !== null ? Object.values(args) : [args]
  const text = values.find(value => typeof value === 'string') ?? ''
  return text.slice(0, MAX_SUBJECT).toWellFormed()
}

/** The outcome that a model last claimed for a task, granted or not. */
export function claimedOutcome(thread: ThreadLog, taskId: string): string | undefined {
  const claims = Object.values(thread)
    .flat()
    .filter((mark): mark is MarkOf<'claim'> => mark.kind === 'claim' && mark.task_id === taskId)
  return claims.at(-1)?.outcome || undefined
}

/** Task id to the reason its last claim in a turn was refused. */
export function rejectedIn(thread: ThreadLog, turnId: string | null): ReadonlyMap<string, string> {
  const verdicts = (valueIn(thread, turnId ?? '') ?? []).filter(
    (mark): mark is MarkOf<'verdict'> => mark.kind === 'verdict' && !mark.fenced,
  )
  const last = new Map(verdicts.map(mark => [mark.task_id, mark]))
  return new Map([...last].flatMap(([id, { verdict, reason }]) => (verdict === 'not_ok' ? [[id, reason]] : [])))
}
