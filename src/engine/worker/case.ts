import { describeCheck } from '../../core/proof/check-text.ts'
import type { Claim } from '../../core/proof/claims.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import { defined } from '../../core/model/defined.ts'
import type { Json, StoredEvent } from '../../core/model/event.ts'
import { leftOut, mostTelling, runCallId, type LeftOut, type Shown, type ToolFact } from '../../core/proof/evidence.ts'
import { excerpt } from '../../core/text/plain-text.ts'
import { checkState, type CheckState } from '../../core/proof/check-state.ts'
import { countingChecks, isProvenBy, recordOf, tailOf, taskRuns } from '../../core/proof/proof.ts'
import { isOpen, type Task } from '../../core/model/task.ts'
import { LIMITS, cut, isBlank } from '../../core/model/text.ts'
import { projection, type Projection } from '../../core/model/log.ts'
import { toolsets } from '../toolsets/index.ts'

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

/** Work done in the turns of a plan, by which claims are judged. */
export interface Work {
  /** The first request, with the person's later messages. */
  readonly request: string
  readonly calls: readonly WorkCall[]
  readonly texts: readonly { readonly text: string; readonly task: string | undefined }[]
  readonly ownTools: readonly string[]
}

/** A call of an outside tool. Calls of the toolset's own tools prove nothing. */
interface WorkCall {
  readonly source: Evidence['source']
  readonly turn: string | null
  readonly call: string
  readonly tool: string
  readonly arguments: Json
  /** The id of the current task when it was made. */
  readonly task: string | undefined
  readonly answered?: { readonly answer: Json; readonly ok: boolean }
  /** How verdicts cite it once it is answered. */
  readonly ref?: string
}

/** A call as the judge sees it. */
export interface Evidence extends ToolFact {
  readonly id: string
  /** Who vouches for it: this process made the call, or the worker's host or the worker reports it. */
  readonly source: 'runsheet' | 'host' | 'agent'
  /** The id of another task, if that was current when it was made. */
  readonly task?: string
}

export const work: Projection<Work> = projection<Work>({
  initial: { request: '', calls: [], texts: [], ownTools: [] },
  on: {
    turn_started: (state, { data: { message, policy } }) => ({
      ...state,
      request: state.request || message,
      ownTools: toolsets[policy.toolset].tools.map(({ name }) => name),
    }),
    message_added: (state, { data: { role, text, synthetic } }) =>
      role === 'user' && !synthetic ? { ...state, request: `${state.request}\n\n${text}` } : state,
    step_finished: (state, { turn_id: turn, data }) => {
      const { text, tool_calls, task_id: task } = data
      // A call with a problem was never made.
      const made = tool_calls.filter(({ tool, problem }) => problem === undefined && !state.ownTools.includes(tool))
      const calls = made.map(call => ({ source: 'runsheet' as const, turn, task, ...call, call: call.tool_call_id }))
      return {
        ...state,
        calls: [...state.calls, ...calls],
        texts: isBlank(text) ? state.texts : [...state.texts, { text, task }],
      }
    },
    tool_answered: (state, { seq, turn_id, data: { tool_call_id, result: answer, ok } }) => ({
      ...state,
      calls: state.calls.map(each =>
        each.call === tool_call_id && each.turn === turn_id
          ? { ...each, answered: { answer, ok }, ref: runCallId(seq) }
          : each,
      ),
    }),
    evidence_added: (state, { turn_id: turn, data }) => {
      const { evidence_id: ref, task_id: task, source, tool, arguments: args, answer, ok } = data
      const call = { source, turn, call: ref, tool, arguments: args, task, answered: { answer, ok }, ref }
      return { ...state, calls: [...state.calls, call] }
    },
  },
})

/**
 * Evidence for a task: the answered calls made while it, or no task, was current. A task without any was worked on
 * early: then all calls, each with its current task.
 */
export function evidenceFor({ calls }: Work, task: string): Evidence[] {
  const all = calls.flatMap(({ source, tool, arguments: args, answered, task: current }, index) =>
    answered ? [{ id: idAt(index), source, tool, arguments: args, ...answered, task: current }] : [],
  )
  const own = all.filter(each => each.task === task)
  const chosen = own.length > 0 ? all.filter(each => each.task === task || each.task === undefined) : all
  return chosen.map(({ task: current, ...evidence }) =>
    current === undefined || current === task ? evidence : { ...evidence, task: current },
  )
}

export const refsOf = ({ calls }: Work, ids: readonly string[]): string[] =>
  calls.flatMap(({ ref }, index) => (ref !== undefined && ids.includes(idAt(index)) ? [ref] : []))

const idAt = (index: number): string => `e${index + 1}`
