import { lastTurnOf, planById } from '../domain/plan.ts'
import { type Conversation } from '../domain/conversation.ts'
import type { Changes, Review } from '../domain/review.ts'
import type { Instant } from '../domain/instant.ts'
import type { Task } from '../domain/task.ts'
import type { ReviewRecord } from '../door/door.ts'
import { unanswered } from './equal-call.ts'
import { changesForModel } from './for-model.ts'
import { toolsets } from './index.ts'
import type { JsonObject, Tool, Toolset } from './toolset.ts'
import type { View } from './view.ts'

/** The answer of a tool call whose review was decided, with the person's changes. */
export function reviewAnswer(state: Conversation, { review, resolution, tasks }: ReviewRecord): JsonObject {
  // A reopened plan goes on in another turn.
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
  return { ...tool.created?.(view, tasks), changes, ...comment, ...(review.unchecked ? UNCHECKED : {}) }
}

/** What an answer says where checks of the model were left out. */
export const UNCHECKED = {
  message:
    'The checks were left out: Runsheet has no workspace here to run them in. Settle these tasks without them. To have checks, the user starts Runsheet with --workspace FOLDER.',
} as const

/** What the person said about proposed rows, in the toolset's words: with the id of the task that a row became. */
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

/** The tool that asked for a review. */
export function askedBy(review: Pick<Review, 'toolset' | 'tool'>): { readonly toolset: Toolset; readonly tool: Tool } {
  const toolset = toolsets[review.toolset]
  const tool = toolset.tools.find(({ name, created }) => created && review.tool === name)
  if (!tool) throw new TypeError(`${toolset.name} has no tool ${review.tool}`)
  return { toolset, tool }
}

/**
 * The review of a call that is repeated without an id: still pending, or decided but never answered. `prefix` identifies
 * the tool and its arguments.
 */
export function reviewOfRepeatedCall(
  state: Conversation,
  turn: string,
  prefix: string,
  now: Instant,
): Review | undefined {
  return unanswered(state, turn, now).find(({ tool_call_id }) => tool_call_id.startsWith(prefix))
}

const UNCHANGED: Changes = { kept: [], edited: [], added: [], removed: [], reordered: false }
