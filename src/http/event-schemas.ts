import * as z from 'zod'
import type { EventData, EventType, StoredEvent } from '../domain/event.ts'
import type { TransientEvent, TransientEventData } from '../domain/wire.ts'
import { check, checkRef, claimFields, runFields, runReason, standings } from './check-schemas.ts'
import { type Difference, exact } from './exact.ts'
import { decided } from './origin-schema.ts'
import {
  approvalFields,
  changes,
  cut,
  instant,
  json,
  planCounts,
  policy,
  review,
  role,
  rowComments,
  described,
  seq,
  task,
  toolCall,
  turnFields,
  workspace,
} from './schemas.ts'

const plan_id = described(z.string(), 'the plan: the id of the turn that began it')
const turn_id = described(z.string(), 'the turn')
const message_id = described(z.string(), 'the message')
const tool_call_id = described(z.string(), 'the call, unique in its turn')
const review_id = described(z.string(), 'the review')
const task_id = described(z.string(), 'the task')
const claim_id = described(z.string(), 'the claim')
const panel = described(z.string(), 'the panel, by a name of its own')
const taskNow = described(task, 'the whole task as it is now')
const tool = described(z.string(), 'the name of the tool')
const by = described(z.enum(['model', 'person', 'assessor', 'file', 'system']), 'who did it')
const usage = described(z.record(z.string(), json), 'token counts of the provider')
const remaining = described(z.int(), 'open tasks of the plan')
const todo = z
  .object({
    id: described(z.int(), "the task's number"),
    description: described(z.string(), 'its title'),
    status: described(z.string(), '`pending`, `current`, `done` or `blocked`'),
  })
  .meta({ id: 'Todo', description: 'A task in short' })
const current = described(todo.nullable(), 'the task in progress')
const as_of_seq = described(z.int(), 'the last event that it includes')
const text = described(z.string(), 'what was written')
const total = described(z.int(), 'tasks in the list')
const partOfMessage = z.object({ message_id, text })

const rowChange = {
  change: z.enum(['kept', 'edited', 'added']),
  draft_index: described(z.int(), 'the draft row that it was made from; absent for an added one').exactOptional(),
}

export const resolution = exact<EventData['task_create_review_resolved']>()(
  z
    .object({
      review_id,
      action: described(z.enum(['confirm', 'cancel']), 'an expired review is a cancelled one'),
      reason: described(
        z.string(),
        'why it was cancelled: `user_cancelled`, `review_timeout`, `panel_closed`, `turn_stopped`, `changes_requested`, `superseded`, or the words of the person',
      ).exactOptional(),
      comment: described(z.string(), 'for the agent').exactOptional(),
      row_comments: described(rowComments, 'for the agent, about rows of the draft').exactOptional(),
      via: described(z.enum(['http', 'mcp_form', 'terminal', 'library', 'system']), 'how the decision came in'),
      created_count: described(z.int(), 'tasks that it created'),
      changes: described(changes, 'what the person did to the draft').exactOptional(),
      tasks: described(
        z.array(z.object({ task_id: z.string(), ...rowChange })),
        'the task that each confirmed row became, in row order',
      ).exactOptional(),
      rows: described(
        z.array(z.object(rowChange)),
        'the rows that a plan was sent back with, if they were edited, in row order',
      ).exactOptional(),
      continued_by: described(z.string(), 'the turn that goes on with a reopened plan').exactOptional(),
      held_ms: described(
        z.int(),
        'milliseconds before it in which the person had decided and could still undo it',
      ).exactOptional(),
      ...decided,
    })
    .meta({ id: 'Resolution', description: 'How a review ended' }),
)

export const claimEnd = z.enum([
  'checks',
  'judge',
  'reported',
  'check_failed',
  'inconclusive',
  'not_ok',
  'unknown',
  'edited',
  'stopped',
  'no_workspace',
  'refused',
])

/** Fields of events that the thread has, too. */
export const endFields = {
  turn_id,
  status: turnFields.status,
  because: described(
    z.enum([
      'answered',
      'budget',
      'gate',
      'limit',
      'unjudged',
      'unchecked',
      'repeats',
      'rejected',
      'empty',
      'stopped',
      'error',
    ]),
    'why it ended',
  ),
  remaining,
  counts: described(planCounts, 'the tasks of the plan by status'),
  standings: described(standings, 'its completed tasks by standing'),
  steps: described(z.int(), 'model calls'),
  usage,
}
export const failureFields = {
  turn_id,
  code: described(z.string(), 'what failed, for programs'),
  message: described(z.string(), 'what failed, for people'),
}
export const verdictFields = {
  task_id,
  verdict: described(z.enum(['ok', 'not_ok', 'unknown']), '`unknown` settles nothing'),
  reason: described(z.string(), "the assessor's words"),
  model: described(z.string(), "the assessor's model"),
  usage: usage.exactOptional(),
  seal: described(z.string(), 'a hash of the title, details, criteria and outcome that were judged'),
  rests: described(
    z.enum(['cited', 'uncited', 'words']),
    'what an ok rests on: evidence that it names, evidence that it does not name, or words alone',
  ).exactOptional(),
  cited: described(z.array(z.string()), 'the evidence that it names, by id').exactOptional(),
  fenced: described(z.literal(true), 'a person changed the task meanwhile: it has no effect').exactOptional(),
}
const { tail, ...runsFields } = runFields
/** Of a run that ended, without the end of its output. */
export const ranFields = {
  ...checkRef,
  ...runsFields,
  claim_id: claim_id.exactOptional(),
  output_sha256: described(z.string(), 'a hash of the whole output').exactOptional(),
}
const others = described(
  z.array(z.object({ task_id: task_id.exactOptional(), guarded: z.array(z.string()), guard: z.string() })),
  'guarded files that changed for other tasks of the plan with this check, or without `task_id` for the plan itself',
).exactOptional()
/** Of a report, without what the tool was given and answered. */
export const reportFields = {
  evidence_id: described(z.string(), 'the report'),
  task_id,
  source: described(z.enum(['host', 'agent']), 'who says so'),
  tool,
  ok: described(z.boolean(), 'whether the call succeeded'),
}

/** Every event of the log, in the order of the reference page. */
export const storedEvents = [
  stored(
    'policy_set',
    'The policy was set.',
  )(z.object({ policy: described(policy, 'the whole policy'), by, ...decided })),
  stored(
    'turn_opened',
    'An agent elsewhere began a turn with its first tool call.',
  )(
    z.object({
      turn_id,
      plan_id,
      client: described(z.string(), 'the program that began it and its folder').exactOptional(),
      workspace: workspace.exactOptional(),
      done_checks: described(z.array(check), 'the checks that run once before its plan ends').exactOptional(),
      ...decided,
    }),
  ),
  stored(
    'turn_started',
    'A person sent a message, and the server began a turn; or a queued message began one when the turn before it ended.',
  )(
    z.object({
      turn_id,
      plan_id,
      message_id,
      message: described(z.string(), 'what the person wrote'),
      policy: described(policy, 'the policy that it runs under'),
      model: described(z.string(), 'the name of the model'),
      endpoint: described(z.string(), 'where the model was reached then, as an opaque name').exactOptional(),
      continue_turn_id: described(z.string(), 'the turn whose plan this one goes on with').exactOptional(),
      workspace: workspace.exactOptional(),
      done_checks: described(z.array(check), 'the checks that run once before its plan ends').exactOptional(),
      ...decided,
    }),
  ),
  stored(
    'plan_joined',
    'The turn works on this plan from now on, which takes over open tasks of further plans.',
  )(z.object({ turn_id, plan_id, task_ids: described(z.array(z.string()), 'the tasks of further plans') })),
  stored('turn_stop_requested', 'A person asked the turn to stop.')(z.object({ turn_id, ...decided })),
  stored('turn_failed', 'The turn could not go on; `turn_finished` follows.')(z.object(failureFields)),
  stored('turn_finished', 'The turn ended.')(z.object(endFields)),
  stored(
    'message_added',
    "A message was added, or the last part of a step's message.",
  )(
    z.object({
      message_id,
      role,
      text,
      synthetic: described(z.boolean(), 'written by the server, not by a person').exactOptional(),
      answer_length: described(
        z.int(),
        'how much of the text the agent wrote; the rest says how the turn ended',
      ).exactOptional(),
    }),
  ),
  stored(
    'message_queued',
    'A person wrote to the agent at work. The message waits; a `message_added` or `turn_started` with its id delivers it.',
  )(z.object({ message_id, text, ...decided })),
  stored(
    'queued_message_edited',
    'A person edited a message that waits.',
  )(
    z.object({
      message_id,
      text: described(text, 'all of it, as it is now'),
      version: described(z.int(), 'its version now; it was queued with version 1'),
      ...decided,
    }),
  ),
  stored('queued_message_withdrawn', 'A person took back a message that waited.')(z.object({ message_id, ...decided })),
  stored(
    'queue_released',
    'A person wants what waits to be sent: it starts the next turn, however this one ends.',
  )(z.object({ turn_id, ...decided })),
  stored(
    'title_set',
    'The conversation was named.',
  )(
    z.object({
      title: described(z.string(), 'its title from now on'),
      by: described(z.enum(['person', 'model']), "who named it; a model does so once, and never over a person's name"),
      model: described(z.string(), 'the model that named it').exactOptional(),
      usage: usage.exactOptional(),
    }),
  ),
  stored(
    'pin_set',
    'A person pinned the conversation, or took the pin away.',
  )(z.object({ pinned: described(z.boolean(), 'whether it comes first in lists') })),
  stored(
    'archive_set',
    'A person archived the conversation, or brought it back.',
  )(z.object({ archived: described(z.boolean(), 'whether lists leave it out') })),
  stored(
    'step_finished',
    'The model answered one call.',
  )(
    z.object({
      step: described(z.int(), 'its number in the turn, from 1'),
      message_id,
      text,
      cut: cut.exactOptional(),
      answer_length: described(z.int(), 'how much of a text that was cut the agent wrote').exactOptional(),
      tool_calls: described(z.array(toolCall), 'the tools that it called'),
      usage,
      digest_seq: described(z.int(), 'the last event that the model knew of'),
      task_id: described(z.string(), 'the task that was in progress').exactOptional(),
      budget: described(z.int(), 'most model calls of the turn').exactOptional(),
      parts: described(json, "the answer in the provider's format, to resume from").exactOptional(),
    }),
  ),
  stored(
    'tool_called',
    'A tool call began.',
  )(z.object({ tool_call_id, tool, arguments: described(json, 'what the model passed') })),
  stored(
    'tool_answered',
    'A tool call was answered.',
  )(
    z.object({
      tool_call_id,
      tool,
      result: described(json, 'the answer for the model'),
      duration_ms: described(z.number(), 'how long it took'),
      ok: described(z.boolean(), 'false if the call was refused or failed'),
      edge: described(
        z.enum(['turn', 'http', 'mcp', 'library']),
        'the way in; absent for tools from outside',
      ).exactOptional(),
      items: described(z.int(), 'the length of the list in its arguments').exactOptional(),
      review_id: described(z.string(), 'the reopened review whose outcome the answer also carries').exactOptional(),
    }),
  ),
  stored('tool_approval_required', 'A call of a tool from outside waits for a person.')(z.object(approvalFields)),
  stored(
    'tool_approval_resolved',
    'A person allowed the call or did not, or it ended by itself.',
  )(
    z.object({
      approval_id: described(z.string(), 'the approval'),
      decision: described(z.enum(['allow', 'always', 'deny']), '`always`: also the next calls of this tool'),
      via: described(z.enum(['http', 'mcp_form', 'terminal', 'library', 'system']), 'where it was decided'),
      reason: described(z.enum(['stopped', 'turn_ended']), "why it ended without a person's word").exactOptional(),
      comment: described(z.string(), 'what the person said').exactOptional(),
      ...decided,
    }),
  ),
  stored(
    'todos_resubmitting',
    'In `manage_todos`, the next task was handed to the model.',
  )(
    z.object({
      next: described(z.string(), 'the title of the task'),
      state: described(json, 'the list, as `todos_updated` has it'),
      iteration: described(z.int(), 'its number in the turn, from 1'),
      max_iterations: described(z.int(), 'the maximum of a turn'),
    }),
  ),
  stored(
    'todos_limit_reached',
    'In `manage_todos`, the turn has handed over as many tasks as it may.',
  )(
    z.object({
      message: described(z.string(), 'the text for the person'),
      remaining,
      current: described(json, 'the task in progress, as `todos_current` has it'),
    }),
  ),
  stored(
    'gate_followed',
    'The model answered with open tasks and was sent back to them.',
  )(
    z.object({
      follow_up: described(z.int(), 'counts from 1 since a task was settled'),
      open: described(z.array(json), 'number and title of each open task'),
    }),
  ),
  stored('task_created', 'A task was created.')(z.object({ task: taskNow, by, ...decided })),
  stored(
    'task_changed',
    'A task was changed.',
  )(
    z.object({
      task: taskNow,
      by,
      from: described(z.record(z.string(), json), 'the previous values of the changed fields'),
      reason: described(z.string(), 'why the system changed it').exactOptional(),
      ...decided,
    }),
  ),
  stored('task_removed', 'A task was removed from the list.')(z.object({ task: taskNow, by, ...decided })),
  stored('task_assessed', 'The assessor judged a claim about a task.')(z.object(verdictFields)),
  stored('task_create_review_required', 'A person is asked to confirm new tasks.')(review.extend(decided)),
  stored('task_create_review_resolved', 'A review was confirmed, cancelled or expired.')(resolution),
  stored('claim_made', 'A model says that a task is settled; it is checked and judged first.')(z.object(claimFields)),
  stored(
    'claim_settled',
    'A claim was granted or refused.',
  )(
    z.object({
      claim_id,
      task_id,
      result: described(z.enum(['granted', 'refused']), 'whether the task has the claimed status now'),
      because: described(claimEnd, 'what decided it'),
    }),
  ),
  stored(
    'check_approved',
    'A check of a task may run: a person, or the configuration, approved exactly this content.',
  )(
    z.object({
      ...checkRef,
      task_id,
      via: described(z.enum(['review', 'edit', 'configuration']), 'how it was approved'),
      ...decided,
    }),
  ),
  stored(
    'check_requested',
    'A run was asked for, other than by a claim.',
  )(
    z.object({
      ...checkRef,
      why: described(
        z.enum(['baseline', 'final', 'person']),
        'when the plan was confirmed, before it ends, or because a person asked',
      ),
      pass: described(z.int(), 'which of the runs before the plan ends it belongs to, from 1').exactOptional(),
      ...decided,
    }),
  ),
  stored(
    'check_started',
    'A run began.',
  )(z.object({ ...checkRef, run_id: runFields.run_id, why: runReason, claim_id: claim_id.exactOptional() })),
  stored(
    'check_handed_back',
    'The process that made a run ended in good order. The next one makes it again.',
  )(z.object({ ...checkRef, run_id: runFields.run_id, why: runReason, claim_id: claim_id.exactOptional() })),
  stored('check_ran', 'A run ended.')(z.object({ ...ranFields, tail, others })),
  stored(
    'baseline_taken',
    'The guarded files were recorded, as they were when the plan was confirmed.',
  )(
    z.object({
      plan_id,
      covers: described(z.array(z.string()), 'the globs that were looked at, and the hashes of the checks'),
      files: described(z.record(z.string(), z.string()), 'path to a hash of its content'),
      written: described(
        z.array(z.string()),
        'files that the check itself wrote before the work: `files` has them as they were after that',
      ).exactOptional(),
      incomplete: described(z.literal(true), 'there were too many to watch').exactOptional(),
      tracked: described(
        z.object({
          commit: described(z.string(), 'the commit that was checked out').exactOptional(),
          others: described(z.array(z.string()), 'files that were not in it'),
        }),
        'the files that a fingerprint covered then: if git is made to ignore one of them, there is no fingerprint',
      ).exactOptional(),
    }),
  ),
  stored(
    'guard_accepted',
    'A person accepted changes to guarded files.',
  )(
    z.object({
      task_id,
      paths: described(z.array(z.string()), 'the files'),
      guard: described(z.string(), 'a hash of how they differ'),
      ...decided,
    }),
  ),
  stored('check_ticked', 'A person ticked a check.')(z.object({ task_id, check_id: checkRef.check_id, ...decided })),
  stored(
    'evidence_added',
    'A host or an agent elsewhere reported a call of a tool of its own. It proves nothing.',
  )(
    z.object({
      ...reportFields,
      arguments: described(json, 'what the tool was given, in short if it is long'),
      answer: described(json, 'what it answered, in short if it is long'),
    }),
  ),
  stored('review_panel_opened', 'A panel shows the review.')(z.object({ review_id, panel })),
  stored('review_panel_left', 'A panel no longer shows the review.')(z.object({ review_id, panel })),
  stored(
    'review_extended',
    'A person gave the review more time.',
  )(z.object({ review_id, expires_at: described(instant, 'its deadline from now on'), ...decided })),
] as const

/** The events that are sent without being stored. */
export const passingEvents = [
  passing(
    'reset',
    'The reader is ahead of the log. Discard what you have: the whole log follows.',
  )(z.object({ seq: described(z.int(), 'the last event of the log') })),
  passing('text_snapshot', 'The text of the running step so far, for readers that join late.')(partOfMessage),
  passing('text_delta', 'More text of the running step.')(partOfMessage),
  passing(
    'todos_updated',
    'The list in view after a commit that touched it.',
  )(
    z.object({
      current,
      remaining,
      total,
      as_of_seq,
      items: described(z.array(todo), 'the tasks; the open ones first if there are more than 200'),
      more: described(z.int(), 'tasks beyond the first 200').exactOptional(),
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
        timestamp: described(instant, 'when it was committed; the events of a commit share it'),
        seq,
        session_id: described(z.string(), 'the conversation'),
        turn_id: described(z.string().nullable(), 'the turn that it belongs to, if any'),
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
