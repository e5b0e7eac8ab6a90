import type { CommandOf, ModelEdit, NewTask } from '../../core/model/command.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import type { Settled } from '../../core/decide/settle.ts'
import type { Json } from '../../core/model/event.ts'
import { lastTurnOf, planById, planOf } from '../../core/model/plan.ts'
import { planFailures, reopenedBy, unseenChecks, type Reopened } from '../../core/proof/check-state.ts'
import type { OpenClaim } from '../../core/proof/proof.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { Changes, Review } from '../../core/model/review.ts'
import type { Task } from '../../core/model/task.ts'
import { StoreError, type ReviewRecord, type Transaction } from '../door/door.ts'
import { viewOf, type ToolContext, type View } from './view.ts'
import { explain } from './explain.ts'
import { changesForModel } from './for-model.ts'
import { toolsets } from './index.ts'
import { edgeOf, elapsed } from './observe.ts'
import type { JsonObject, Tool, Toolset } from './toolset.ts'

export interface Told {
  readonly result: Json
  readonly ok: boolean
}

export interface Answering {
  readonly context: ToolContext
  readonly transaction: Transaction
  readonly toolset: Toolset
  readonly tool: Pick<Tool, 'name' | 'created'>
  readonly callId: string
  readonly items: number
  readonly started: number
  /** The outcome of a reopened review, delivered with the answer. */
  readonly reopened: ReviewRecord | undefined
  readonly claims?: readonly OpenClaim[]
}

export function answered(deps: Answering, { result: own, ok }: Told): Told & { readonly command: CommandOf<'record'> } {
  const { context, toolset, tool, callId, items, started, reopened, claims = [] } = deps
  const { state } = deps.transaction
  const told = claims.length > 0 ? withReopened(own, reopenedBy(state, claims), toolset) : own
  const known = tool.created ? told : withFailing(told, state, context.turn)
  const answer = withOutcome(state, known, reopened)
  const timed = { duration_ms: elapsed(started), edge: edgeOf(context) }
  const data = { tool_call_id: callId, tool: tool.name, ...answer, ok, items, ...timed }
  const fact = { type: 'tool_answered', data } as const
  return { result: answer.result, ok, command: { type: 'record', turn_id: context.turn, fact } }
}

/** The answer to a call that was made: the same for every entry point, at once or after its claims. */
export function answerTo(
  toolset: Toolset,
  tool: Tool,
  view: View,
  edit: ModelEdit,
  { events, refusals, refusal = edit.each ? undefined : [...refusals.values()][0], notDone }: Settled,
): Told {
  if (refusal) return { result: toolset.refused(explain(refusal, toolset, tool), view), ok: false }
  const made = (edit.create ?? []).flatMap(({ id }) => view.state.tasks.get(id) ?? [])
  const unsettled = (edit.create ?? []).flatMap(({ id, status }) => {
    const isDone = view.state.tasks.get(id)?.status === status
    return status !== 'completed' || isDone ? [] : { id, reason: notDone.get(id) ?? (edit.judges ? UNJUDGED : UNRUN) }
  })
  const own = tool.answer?.(view, { edit, events, made, notDone: unsettled, refusals }) ?? {}
  return { result: { ...own, ...noteOf(edit.unchecked, edit.create ?? [], made) }, ok: true }
}

const UNRUN = 'Its check runs once you complete it with a call of its own.'
const UNJUDGED = 'The assessor rules on it once you settle it with a call of its own.'

/** A refusal or storage failure as an answer for the model: no stack, no path, no SQL. Other errors are rethrown. */
export async function failureAnswer(toolset: Toolset, error: unknown, context: ToolContext): Promise<Json> {
  if (error instanceof StoreError) {
    const conflict = 'This tool call id was already used with other arguments.'
    return `Error: ${error.code === 'key_conflict' ? conflict : error.message}`
  }
  if (!(error instanceof Refusal)) throw error
  // Without a valid conversation there is no state to show.
  if (error.code === 'invalid_id') return `Error: ${error.message}`
  return viewOf(context).then(
    view => toolset.refused(explain(error, toolset), view),
    unread => failureAnswer(toolset, unread, context),
  )
}

/** The answer of a tool call whose review was decided, with the person's changes. */
export function reviewAnswer(state: Conversation, { review, resolution, tasks }: ReviewRecord): JsonObject {
  // A reopened plan continues in another turn.
  const turnId = tasks[0] ? lastTurnOf(planById(state, tasks[0].plan_id)) : review.conversation_turn_id
  const view: View = { state, turnId }
  const { toolset, tool } = askedBy(review)
  const comment = {
    ...(resolution?.comment === undefined ? {} : { comment: resolution.comment }),
    ...commentsOnRows(toolset, resolution, tasks),
  }
  if (resolution?.action !== 'confirm') {
    const reason = resolution?.reason ?? 'user_cancelled'
    const changes = resolution?.changes ? { changes: changesForModel(resolution.changes) } : {}
    const answer: JsonObject = { confirmed: false, cancelled: true, reason, ...comment, ...changes }
    return toolset.unconfirmed?.(answer, view) ?? answer
  }
  const rows = resolution.changes ?? UNCHANGED
  const changes = toolset.changes?.(rows, resolution.tasks ?? [], tasks) ?? changesForModel(rows)
  const note = noteOf(review.unchecked, review.draft_tasks, tasks)
  return { ...tool.created?.(view, tasks), changes, ...comment, ...note }
}

type Asking = Pick<NewTask, 'asks_scope'>

/** Tells what was left out of a proposal: its checks, or globs that only a person adds to a scope. */
function noteOf(isUnchecked = false, proposed: readonly Asking[], made: readonly Task[]): { message?: string } {
  const asked = new Set(proposed.flatMap(({ asks_scope = [] }) => asks_scope))
  const left = [...asked].filter(glob => !made.some(({ scope = [] }) => scope.includes(glob)))
  const notes = [
    ...(isUnchecked ? [UNCHECKED] : []),
    ...(left.length > 0 ? [`Not in scope: ${left.join(', ')}. Changes there wait for the user.`] : []),
  ]
  return notes.length > 0 ? { message: notes.join(' ') } : {}
}

const UNCHECKED =
  'The checks were left out: Runsheet has no workspace here to run them in. Settle these tasks without them. To have checks, the user starts Runsheet with --workspace FOLDER.'

/** A person's comments on proposed rows, in the toolset's words, with the id of the task that a row became. */
function commentsOnRows(
  { vocabulary: { idOf, words = {} } }: Toolset,
  resolution: ReviewRecord['resolution'],
  tasks: readonly Task[],
): JsonObject {
  const { row_comments = [], tasks: made = [] } = resolution ?? {}
  if (row_comments.length === 0) return {}
  return {
    row_comments: row_comments.map(({ draft_index, title, comment }) => {
      const became = made.find(each => each.draft_index === draft_index)
      const task = tasks.find(({ id }) => id === became?.task_id)
      return { ...(task ? { id: idOf(task) } : {}), [words['title'] ?? 'title']: title, comment }
    }),
  }
}

export function askedBy(review: Pick<Review, 'toolset' | 'tool'>): { readonly toolset: Toolset; readonly tool: Tool } {
  const toolset = toolsets[review.toolset]
  const tool = toolset.tools.find(({ name, created }) => created && review.tool === name)
  if (!tool) throw new TypeError(`${toolset.name} has no tool ${review.tool}`)
  return { toolset, tool }
}

const UNCHANGED: Changes = { kept: [], edited: [], added: [], removed: [], reordered: false }

interface AnswerWithOutcome {
  readonly result: Json
  readonly review_id?: string
}

/**
 * A decided review that a person had reopened, if its agent lives elsewhere and has not received the outcome. Our own
 * turns are continued instead. `awaited` is the review that this call waits for: its outcome is the answer itself.
 */
export async function unheardOutcome(
  { door, tenant, run }: ToolContext,
  { unheard_reviews, reviews, turns }: Conversation,
  awaited?: string,
): Promise<ReviewRecord | undefined> {
  if (run) return undefined
  const id = unheard_reviews.find(each => {
    const review = reviews.get(each)
    // Superseded by the agent itself, with another plan.
    if (review?.reopens === undefined || review.reason === 'superseded') return false
    return turns.get(review.conversation_turn_id)?.model === undefined
  })
  return id === undefined || id === awaited ? undefined : (await door.reviews.get(tenant, id)).record
}

/** Adds that outcome, unless another answer has delivered it meanwhile. */
function withOutcome(state: Conversation, result: Json, record: ReviewRecord | undefined): AnswerWithOutcome {
  if (!record || typeof result !== 'object' || result === null || Array.isArray(result)) return { result }
  const { review_id } = record.review
  if (!state.unheard_reviews.includes(review_id)) return { result }
  const tasks = record.tasks.flatMap(({ id }) => state.tasks.get(id) ?? [])
  const outcome = { review_id, confirmed: true, ...reviewAnswer(state, { ...record, tasks }) }
  return { result: { ...result, review: outcome }, review_id }
}

/** Adds the plan's checks that did not pass once nothing is open: the plan is not done, or not known to be. */
function withFailing(result: Json, state: Conversation, turnId: string): Json {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return result
  const plan = planOf(state, turnId)
  if (plan.open.length > 0) return result
  const failing = [...planFailures(plan), ...unseenChecks(state, plan)]
  return failing.length > 0 ? { ...result, failing } : result
}

/** Adds the tasks that the final runs reopened to a claim's answer. */
function withReopened(result: Json, reopened: readonly Reopened[], { vocabulary }: Toolset): Json {
  if (reopened.length === 0 || typeof result !== 'object' || result === null || Array.isArray(result)) return result
  return { ...result, reopened: reopened.map(({ task, why }) => `${vocabulary.idOf(task)} ${task.title}: ${why}`) }
}
