import * as z from 'zod'
import type { EventData, EventType, StoredEvent } from '../domain/event.ts'
import type { TransientEvent, TransientEventData } from '../domain/wire.ts'
import { type Difference, exact } from './exact.ts'
import { changes, instant, json, policy, review, role, said, seq, task, toolCall, turnFields } from './schemas.ts'

const turn_id = said(z.string(), 'the turn')
const message_id = said(z.string(), 'the message')
const tool_call_id = said(z.string(), 'the call, unique in its turn')
const review_id = said(z.string(), 'the review')
const panel = said(z.string(), 'the panel, by the name it gave itself')
const taskNow = said(task, 'the whole task as it is now')
const tool = said(z.string(), 'the name of the tool')
const by = said(z.enum(['model', 'person', 'assessor', 'file', 'system']), 'who did it')
const usage = said(z.record(z.string(), json), 'tokens, as far as the provider counts them')
const remaining = said(z.int(), 'open tasks of the plan')
const todo = z
  .object({
    id: said(z.int(), "the task's number"),
    description: said(z.string(), 'its title'),
    status: said(z.string(), '`pending`, `current`, `done` or `blocked`'),
  })
  .meta({ id: 'Todo', description: 'A task in short' })
const current = said(todo.nullable(), 'the task in progress')
const as_of_seq = said(z.int(), 'the event up to which this holds')
const text = said(z.string(), 'what was written')
const total = said(z.int(), 'tasks in the list')
const partOfMessage = z.object({ message_id, text })

export const resolution = exact<EventData['task_create_review_resolved']>()(
  z
    .object({
      review_id,
      action: said(z.enum(['confirm', 'cancel']), 'an expired review is a cancelled one'),
      reason: said(
        z.string(),
        'why it was cancelled: `user_cancelled`, `review_timeout`, `panel_closed`, `turn_stopped`, or as the person says',
      ).exactOptional(),
      comment: said(z.string(), 'for the agent').exactOptional(),
      via: said(
        z.enum(['http', 'mcp_form', 'library', 'system', 'mcp_app']),
        'how the decision came in; `mcp_app` is no longer written',
      ),
      created_count: said(z.int(), 'tasks that it created'),
      changes: said(changes, 'what the person did to the draft').exactOptional(),
      tasks: said(
        z.array(z.object({ task_id: z.string(), change: z.enum(['kept', 'edited', 'added']) })),
        'the task that each confirmed row became, in row order; older logs lack it',
      ).exactOptional(),
    })
    .meta({ id: 'Resolution', description: 'How a review ended' }),
)

/** Every event of the log, in the order of the reference page. */
export const storedEvents = [
  stored('policy_set', 'The policy was set.')(z.object({ policy: said(policy, 'the whole policy'), by })),
  stored('turn_opened', 'An agent elsewhere began a turn with its first tool call.')(z.object({ turn_id })),
  stored(
    'turn_started',
    'A person sent a message, and the server began a turn.',
  )(
    z.object({
      turn_id,
      message_id,
      message: said(z.string(), 'what the person wrote'),
      policy: said(policy, 'the policy that it runs under'),
      model: said(z.string(), 'the name of the model'),
      continue_turn_id: said(z.string(), 'the turn whose open tasks this one takes over').exactOptional(),
    }),
  ),
  stored('turn_stop_requested', 'A person asked the turn to stop.')(z.object({ turn_id })),
  stored(
    'turn_failed',
    'The turn could not go on; `turn_finished` follows.',
  )(
    z.object({
      turn_id,
      code: said(z.string(), 'what failed, for programs'),
      message: said(z.string(), 'what failed, for people'),
    }),
  ),
  stored(
    'turn_finished',
    'The turn ended.',
  )(
    z.object({
      turn_id,
      status: turnFields.status,
      because: said(
        z.enum(['answered', 'budget', 'gate', 'limit', 'unjudged', 'repeats', 'empty', 'stopped', 'error']),
        'why it ended; older logs lack it',
      ).exactOptional(),
      remaining,
      counts: said(
        z.object({
          completed: z.int(),
          blocked: z.int(),
          cancelled: z.int(),
          removed: z.int(),
          open: z.int(),
        }),
        'the tasks of the plan by what became of them',
      ),
      steps: said(z.int(), 'model calls'),
      usage,
    }),
  ),
  stored(
    'message_added',
    'A message was added, or the last word to one that a step wrote.',
  )(
    z.object({
      message_id,
      role,
      text,
      synthetic: said(z.boolean(), 'written by the server, not by a person').exactOptional(),
    }),
  ),
  stored(
    'step_finished',
    'The model answered one call.',
  )(
    z.object({
      step: said(z.int(), 'counted from 1 in its turn'),
      message_id,
      text,
      tool_calls: said(z.array(toolCall), 'the tools that it called'),
      usage,
      digest_seq: said(z.int(), 'the event up to which the model knew the plan'),
      task_id: said(z.string(), 'the task that was in progress').exactOptional(),
      budget: said(z.int(), 'model calls that the turn may make').exactOptional(),
      parts: said(json, "the answer in the provider's own parts, from which a resumed turn goes on").exactOptional(),
      provider_metadata: said(json, 'no longer written; older logs have it').exactOptional(),
    }),
  ),
  stored(
    'tool_called',
    'A tool call began.',
  )(z.object({ tool_call_id, tool, arguments: said(json, 'what the model passed') })),
  stored(
    'tool_answered',
    'A tool call was answered.',
  )(
    z.object({
      tool_call_id,
      tool,
      result: said(json, 'what the model is told'),
      duration_ms: said(z.number(), 'how long it took'),
      ok: said(z.boolean(), 'false if the call was refused or failed'),
    }),
  ),
  stored(
    'todos_resubmitting',
    'In `manage_todos`, the next task was handed to the model.',
  )(
    z.object({
      next: said(z.string(), 'the title of the task'),
      state: said(json, 'the list, as `todos_updated` has it'),
      iteration: said(z.int(), 'counted from 1 in its turn'),
      max_iterations: said(z.int(), 'how many a turn may have'),
    }),
  ),
  stored(
    'todos_limit_reached',
    'In `manage_todos`, the turn may hand over no more tasks.',
  )(
    z.object({
      message: said(z.string(), 'what a person is told'),
      remaining,
      current: said(json, 'the task in progress, as `todos_current` has it'),
    }),
  ),
  stored(
    'gate_followed',
    'The model answered with open tasks, and was asked to go on.',
  )(
    z.object({
      follow_up: said(z.int(), 'counted from 1 since a task was settled'),
      open: said(z.array(json), 'number and title of each open task'),
    }),
  ),
  stored('task_created', 'A task was created.')(z.object({ task: taskNow, by })),
  stored(
    'task_changed',
    'A task was changed.',
  )(
    z.object({
      task: taskNow,
      by,
      from: said(z.record(z.string(), json), 'the previous values of the changed fields'),
    }),
  ),
  stored('task_removed', 'A task was removed from the list.')(z.object({ task: taskNow, by })),
  stored(
    'task_assessed',
    'The assessor judged a claim about a task.',
  )(
    z.object({
      task_id: said(z.string(), 'the task'),
      verdict: said(z.enum(['ok', 'not_ok', 'unknown']), '`unknown` settles nothing'),
      reason: said(z.string(), "the assessor's words"),
      model: said(z.string(), "the assessor's model"),
      usage: usage.exactOptional(),
    }),
  ),
  stored('task_create_review_required', 'A person is asked to confirm new tasks.')(review),
  stored('task_create_review_resolved', 'A review was confirmed, cancelled or expired.')(resolution),
  stored('review_panel_opened', 'A panel shows the review.')(z.object({ review_id, panel })),
  stored('review_panel_left', 'A panel no longer shows the review.')(z.object({ review_id, panel })),
] as const

/** The events that are sent without being stored. */
export const passingEvents = [
  passing(
    'reset',
    'The log is not the one that the reader knew: forget it, everything follows.',
  )(z.object({ seq: said(z.int(), 'the last event of the log') })),
  passing('text_snapshot', 'The text that the model has written so far, for readers who join late.')(partOfMessage),
  passing('text_delta', 'More text of the step that is being written.')(partOfMessage),
  passing(
    'todos_updated',
    'The list in view after a commit that touched it.',
  )(
    z.object({
      current,
      remaining,
      total,
      as_of_seq,
      items: said(z.array(todo), 'the tasks; the open ones first if there are more than 200'),
      more: said(z.int(), 'tasks beyond the first 200').exactOptional(),
    }),
  ),
  passing('todos_current', 'The short form of `todos_updated`.')(z.object({ current, remaining, total, as_of_seq })),
] as const

export const event = exact<StoredEvent>()(
  z.discriminatedUnion('type', storedEvents).meta({
    id: 'Event',
    description: 'A stored event. Ignore types that you do not know: newer servers may add some.',
  }),
)

/** The `data` of each message of a stream. */
export const streamedEvent = exact<StoredEvent | TransientEvent>()(
  z.discriminatedUnion('type', [...storedEvents, ...passingEvents]).meta({
    id: 'StreamedEvent',
    description: 'The `data` of a message. A stored event has its `seq` as the id; the others have no id.',
  }),
)

function stored<T extends EventType>(type: T, description: string) {
  return <S extends z.ZodType<EventData[T]>>(data: S, ..._differs: Difference<EventData[T], z.output<S>>) =>
    z
      .object({
        type: z.literal(type),
        timestamp: said(instant, 'when it was committed; the events of a commit share it'),
        seq,
        session_id: said(z.string(), 'the conversation'),
        turn_id: said(z.string().nullable(), 'the turn that it belongs to, if any'),
        data,
      })
      .meta({ id: nameOf(type), description })
}

function passing<T extends keyof TransientEventData>(type: T, description: string) {
  return <S extends z.ZodType<TransientEventData[T]>>(
    data: S,
    ..._differs: Difference<TransientEventData[T], z.output<S>>
  ) =>
    z
      .object({
        type: z.literal(type),
        timestamp: instant,
        session_id: z.string(),
        turn_id: z.string().nullable(),
        data,
      })
      .meta({ id: nameOf(type), description })
}

/** `task_created` is `TaskCreatedEvent` in the document. */
function nameOf(type: string): string {
  return `${type.replaceAll(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase())}Event`
}
