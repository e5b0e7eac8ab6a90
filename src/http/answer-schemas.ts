import * as z from 'zod'
import type { LimitedTurns } from '../domain/limited-turns.ts'
import type { Review } from '../domain/review.ts'
import type { ConversationSnapshot } from '../domain/snapshot.ts'
import type { Turn } from '../domain/turn.ts'
import type { View } from '../domain/view.ts'
import type { TurnWork } from '../domain/work.ts'
import type * as wire from '../domain/wire.ts'
import { event, resolution } from './event-schemas.ts'
import { exact } from './exact.ts'
import * as s from './schemas.ts'

const next_cursor = s.described(z.string().nullable(), 'for the next page; null on the last')

export const sessions = exact<wire.SessionsAnswer>()(z.object({ sessions: z.array(s.session), next_cursor }))

export const session = exact<wire.SessionAnswer>()(
  z.object({
    session: s.session,
    policy: s.policy.nullable(),
    messages: z.array(s.message),
    turns: z.array(s.turn),
    tasks: z.array(s.task),
    reviews: z.array(s.review),
    seq: z.int(),
  }),
)

const turn = exact<Turn>()(
  z.object({
    id: z.string(),
    ...s.turnFields,
    dropped: s.described(z.int(), 'how many of the removed tasks a model removed'),
    model: s.described(z.string(), 'the model that drives it; absent in a turn of an agent elsewhere').exactOptional(),
    client: s.described(z.string(), 'the program elsewhere that opened it and its folder').exactOptional(),
  }),
)
const review = exact<Review>()(
  z.object({
    ...s.reviewFields,
    asked_at: s.described(z.iso.datetime(), 'when it was opened'),
    panels: s.described(z.array(z.string()), 'the panels that show it'),
    closes_at: s.described(z.iso.datetime().nullable(), 'when it is cancelled because all panels were closed'),
    reason: s.described(z.string(), 'why it was cancelled').exactOptional(),
    via: s.described(z.string(), 'the edge that it was decided through').exactOptional(),
    successor: s.described(z.string(), 'the review that reopens or revises it').exactOptional(),
  }),
)
const byTask = <S extends z.ZodType>(value: S) => z.record(z.string(), value)

const conversation = exact<ConversationSnapshot>()(
  z
    .object({
      version: s.described(z.int(), 'the version of this format; clients of another version cannot read it'),
      session_id: z.string(),
      seq: s.described(z.int(), 'follow the events from here'),
      created_at: s.instant.nullable(),
      updated_at: s.instant.nullable(),
      policy: s.policy.nullable(),
      tasks: s.described(byTask(s.task), 'by id'),
      open: s.described(z.array(z.string()), 'the ids of the open tasks'),
      last_number: z.int(),
      last_position: z.number(),
      adopted: s.described(byTask(z.string()), 'task to the turn that took it over'),
      held: s.described(byTask(z.string()), 'task to the turn of this server that took it over last'),
      edits: s.described(byTask(byTask(z.int())), "task and field to the seq of a person's newest edit"),
      rejections: s.described(byTask(z.int()), 'task to the number of times the assessor rejected it'),
      turns: s.described(z.record(z.string(), turn), 'by id'),
      running_turn: z.string().nullable(),
      latest_turn: z.string().nullable(),
      reviews: s.described(
        z.record(z.string(), review),
        'by id; only one that can be decided or reopened has its rows',
      ),
      pending_reviews: z.array(z.string()),
      unheard_reviews: s.described(z.array(z.string()), 'decided reviews whose answer the agent has not received'),
      answered_seq: s.described(z.int(), 'the seq of the latest answer that the agent received'),
    })
    .meta({ id: 'ConversationSnapshot', description: 'The state of a conversation, to apply events to' }),
)

const limited = exact<LimitedTurns>()(
  z.object({
    turns: s.described(z.array(z.string()), 'turns that a limit ended'),
    max_steps: s.described(z.int().nullable(), 'most model calls of the latest turn'),
  }),
)

const work = exact<TurnWork>()(
  z.object({
    spans: s.described(z.array(z.object({ from: s.instant, to: s.instant })), 'past stretches of work'),
    since: s.described(s.instant.nullable(), 'when the current stretch began; null while the turn waits or is over'),
    seen: s.described(s.instant, 'the latest step, answered tool call or verdict'),
    is_elsewhere: s.described(z.literal(true), 'the agent is not ours').exactOptional(),
    is_over: z.literal(true).exactOptional(),
  }),
)

const view = exact<View>()(
  z
    .object({
      title: z.string().nullable(),
      messages: z.array(s.message),
      resolutions: s.described(z.record(z.string(), resolution), 'review to how it ended'),
      limited,
      added: s.described(byTask(z.int()), 'task to the seq at which a person added it'),
      work: s.described(z.record(z.string(), work), 'turn to when its agent was at work'),
    })
    .meta({ id: 'View', description: 'What a page shows besides the state' }),
)
export const snapshot = exact<wire.SnapshotAnswer>()(z.object({ conversation, view }))

export const timeline = exact<wire.TimelineAnswer>()(z.object({ events: z.array(event), seq: z.int() }))
export const oneEvent = exact<wire.EventAnswer>()(z.object({ event }))
export const policy = exact<wire.PolicyAnswer>()(z.object({ policy: s.policy, seq: z.int() }))
export const oneTurn = exact<wire.TurnAnswer>()(z.object({ turn: s.turn, seq: z.int() }))

export const tasks = exact<wire.TasksAnswer>()(z.object({ tasks: z.array(s.task), next_cursor, seq: z.int() }))
export const foundTasks = exact<wire.FoundTasksAnswer>()(z.object({ tasks: z.array(s.task), next_cursor }))
export const task = exact<wire.TaskAnswer>()(z.object({ task: s.task, seq: z.int() }))

export const reviews = exact<wire.ReviewsAnswer>()(
  z.object({
    reviews: z.array(s.review),
    next_cursor: s.described(z.string(), 'for the next page; absent on the last').exactOptional(),
  }),
)
export const oneReview = exact<wire.ReviewAnswer>()(
  z.object({ reviews: z.array(s.review), result: s.json.exactOptional() }),
)
export const decided = exact<wire.DecisionAnswer>()(
  z.object({
    review: s.review,
    result: s.json,
    turn_id: s.described(z.string(), 'the turn that goes on with a reopened plan').exactOptional(),
  }),
)
export const reopened = exact<wire.ReopenAnswer>()(z.object({ review: s.review }))

export const templates = exact<wire.TemplatesAnswer>()(z.object({ templates: z.array(s.template) }))

const summary = exact<wire.ToolsetSummary>()(
  z.object({
    name: s.toolset,
    review: z.boolean(),
    assessor: z.boolean(),
    gate: z.boolean(),
    scope: z.enum(['turn', 'conversation']),
    tools: z.array(z.string()),
  }),
)
export const toolsets = exact<wire.ToolsetsAnswer>()(z.object({ toolsets: z.array(summary) }))
export const toolset = exact<wire.ToolsetAnswer>()(
  z.object({ name: s.toolset, tools: z.array(s.json), prompt: z.string() }),
)
export const retryGuidance = exact<wire.RetryAnswer>()(z.object({ guidance: z.string() }))
export const answeredCall = exact<wire.AnsweredCall>()(z.object({ result: s.json }))
export const pendingCall = exact<wire.PendingCall>()(
  z.object({ status: z.literal('pending_review'), review_id: z.string() }),
)
export const models = exact<wire.ModelsAnswer>()(
  z.object({ models: z.array(z.object({ name: z.string(), default: z.boolean() })) }),
)
