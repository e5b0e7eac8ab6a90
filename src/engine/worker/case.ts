import { describeCheck } from '../../core/proof/check-label.ts'
import type { Claim } from '../../core/proof/claim.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import { defined } from '../../core/model/defined.ts'
import type { Json, StoredEvent } from '../../core/model/event.ts'
import { type LeftOut, leftOut, mostTelling, type Shown } from '../../core/proof/evidence.ts'
import { excerpt } from '../../core/text/excerpt.ts'
import { checkState, type CheckState } from '../../core/proof/check-state.ts'
import { countingChecks, isProvenBy, recordOf, tailOf, taskRuns } from '../../core/proof/proof.ts'
import { isOpen, type Task } from '../../core/model/task.ts'
import { cut, LIMITS } from '../../core/model/text.ts'
import { type Evidence, evidenceFor, type Work } from './evidence.ts'

const MAX_EVIDENCE: Shown = { usual: 20, max: 100 }
/** Characters per answer or call arguments; less if there is much evidence. */
const MAX_ANSWER = 4_000
const MAX_REQUEST = 4_000
/** Earlier verdicts and edits by a person. */
const MAX_HISTORY = 10
const MAX_OTHER_TASKS = 20

/** The judge's input, as JSON: no text in it can pass for another part of the case. */
export interface Case {
  readonly request: string
  readonly task: string
  readonly details: string
  readonly criteria: string
  readonly claimed_status: Claim['status']
  readonly outcome: string
  readonly earlier_verdicts: readonly { readonly verdict: string; readonly reason: string }[]
  readonly checks: readonly CheckFact[]
  readonly person: readonly { readonly did: 'reopened' | 'edited'; readonly now: Readonly<Record<string, Json>> }[]
  /** The worker's texts, the latest last. */
  readonly worker_text: readonly string[]
  readonly evidence: readonly Evidence[]
  readonly evidence_left_out: readonly LeftOut[]
  /** Tasks whose evidence is not listed here, with their number of calls. */
  readonly other_tasks: readonly { readonly task: string; readonly calls: number }[]
}

interface CheckFact {
  readonly check: string
  readonly state: CheckState
  /** Whether it failed before and passes since this claim. */
  readonly proves: boolean
  readonly exit?: number
  /** What is wrong, or why there is no result. */
  readonly reason?: string
  readonly output_end?: string
}

export const CASE_TYPES = ['task_assessed', 'task_changed'] as const

export function caseOf(claim: Claim, work: Work, state: Conversation, events: readonly StoredEvent[]): Case {
  const found = evidenceFor(work, claim.task)
  const evidence = mostTelling(found, MAX_EVIDENCE)
  const room = Math.floor(MAX_ANSWER * Math.min(1, MAX_EVIDENCE.usual / evidence.length))
  const titleOf = (id: string): string => state.tasks.get(id)?.title ?? '(removed)'
  return {
    request: excerpt(work.request, MAX_REQUEST),
    task: claim.title,
    details: claim.details,
    criteria: claim.criteria,
    claimed_status: claim.status,
    outcome: cut(claim.outcome, LIMITS.text),
    earlier_verdicts: events
      .flatMap(event =>
        event.type === 'task_assessed' ? [{ verdict: event.data.verdict, reason: event.data.reason }] : [],
      )
      .slice(-MAX_HISTORY),
    checks: checkFacts(state, claim.task),
    person: events.flatMap(personEdit).slice(-MAX_HISTORY),
    worker_text: textsFor(work, claim.task),
    evidence: evidence.map(each => shortened(each, titleOf, room)),
    evidence_left_out: leftOut(found, evidence),
    other_tasks: otherTasks(work, claim.task, found, titleOf),
  }
}

function checkFacts(state: Conversation, id: string): readonly CheckFact[] {
  const task = state.tasks.get(id)
  if (!task) return []
  return countingChecks(state, task).map(check => {
    const { last } = taskRuns(state, task.id, check.hash) ?? {}
    const tail = tailOf(state, check.hash, last)
    return {
      check: describeCheck(check),
      state: checkState(state, task, check),
      proves: isProvenBy(recordOf(state, check.hash), task.id),
      ...defined({ exit: last?.exit, reason: last?.reason }),
      ...(tail ? { output_end: tail } : {}),
    }
  })
}

const EDITED = ['title', 'details', 'criteria', 'status', 'outcome'] as const satisfies readonly (keyof Task)[]

function personEdit(event: StoredEvent): Case['person'] {
  if (event.type !== 'task_changed' || (event.data.by !== 'person' && event.data.by !== 'file')) return []
  const { task, from } = event.data
  const fields = EDITED.filter(field => Object.hasOwn(from, field))
  if (fields.length === 0) return []
  const before = from['status'] as Task['status'] | undefined
  const reopens = before !== undefined && !isOpen({ status: before }) && isOpen(task)
  const now = Object.fromEntries(fields.map(field => [field, excerpt(task[field] ?? '', MAX_ANSWER)]))
  return [{ did: reopens ? 'reopened' : 'edited', now }]
}

/** Texts about a task, else all. The latest are kept. */
function textsFor({ texts }: Work, task: string): string[] {
  const own = texts.filter(each => each.task === task)
  const chosen = own.length > 0 ? own : texts
  const kept: string[] = []
  let room: number = LIMITS.text
  for (const { text } of chosen.toReversed()) {
    if (room <= 0) break
    kept.unshift(text.length <= room ? text : `…${text.slice(text.length - room).toWellFormed()}`)
    room -= text.length
  }
  return kept
}

function shortened({ task, ...evidence }: Evidence, titleOf: (id: string) => string, room: number): Evidence {
  return {
    ...evidence,
    arguments: brief(evidence.arguments, room),
    answer: brief(evidence.answer, room),
    ...(task === undefined ? {} : { task: titleOf(task) }),
  }
}

function otherTasks(
  { calls }: Work,
  task: string,
  found: readonly Evidence[],
  titleOf: (id: string) => string,
): Case['other_tasks'] {
  // The evidence itself names them.
  if (found.some(each => each.task !== undefined)) return []
  const others = calls.flatMap(call => (call.task === undefined || call.task === task ? [] : [call.task]))
  return [...Map.groupBy(others, id => id)]
    .map(([id, made]) => ({ task: titleOf(id), calls: made.length }))
    .slice(-MAX_OTHER_TASKS)
}

function brief(value: Json, room: number): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= room ? value : excerpt(text, room)
}
