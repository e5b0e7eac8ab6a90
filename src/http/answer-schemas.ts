import * as z from 'zod'
import type { LimitedTurns } from '../domain/limited-turns.ts'
import type { RemovedTask } from '../domain/removed.ts'
import type { Review } from '../domain/review.ts'
import type { ConversationSnapshot } from '../domain/snapshot.ts'
import { STATUSES } from '../domain/task.ts'
import type { Mark } from '../domain/thread-log.ts'
import type { Plan } from '../domain/plan.ts'
import type { Turn } from '../domain/turn.ts'
import type { View } from '../domain/view.ts'
import type { TurnWork } from '../domain/work.ts'
import type * as wire from '../domain/wire.ts'
import * as c from './check-schemas.ts'
import {
  claimEnd,
  endFields,
  event,
  failureFields,
  ranFields,
  reportFields,
  resolution,
  verdictFields,
} from './event-schemas.ts'
import { exact } from './exact.ts'
import * as s from './schemas.ts'

const next_cursor = s.described(z.string().nullable(), 'for the next page; null on the last')

const indexing = s.described(z.literal(true), 'older texts are still being indexed').exactOptional()

export const sessions = exact<wire.SessionsAnswer>()(z.object({ sessions: z.array(s.session), next_cursor, indexing }))

export const filedSession = exact<wire.FiledSessionAnswer>()(z.object({ session: s.session }))

export const session = exact<wire.SessionAnswer>()(
  z.object({
    session: s.session,
    policy: s.policy.nullable(),
    messages: z.array(s.message),
    turns: z.array(s.turn),
    tasks: z.array(s.taskView),
    reviews: z.array(s.review),
    queued: s.described(z.array(s.queuedMessage), 'messages that wait for the next model call, oldest first'),
    approvals: s.described(z.array(s.toolApproval), 'calls of tools that wait for a person, oldest first'),
    seq: z.int(),
  }),
)

const turn = exact<Turn>()(
  z.object({
    id: z.string(),
    ...s.turnFields,
    model: s.described(z.string(), 'the model that drives it; absent in a turn of an agent elsewhere').exactOptional(),
    client: s.described(z.string(), 'the program elsewhere that opened it and its folder').exactOptional(),
    reports: s.described(z.int(), 'how many calls others have reported as evidence').exactOptional(),
    releases_queue: s
      .described(z.literal(true), 'queued messages start the next turn, however it ends')
      .exactOptional(),
  }),
)
const count = (of: string): z.ZodInt => s.described(z.int(), of)
const plan = exact<Plan>()(
  z.object({
    id: s.described(z.string(), 'the turn that began it'),
    turns: s.described(z.array(z.string()), 'the turns that worked on it, oldest first'),
    open: s.described(z.array(z.string()), 'the ids of its open tasks'),
    counts: s.planCounts,
    dropped: count('how many of the removed tasks a model removed'),
    checked: s.described(z.array(z.string()), 'the ids of its tasks that have checks'),
    workspace: s.workspace.exactOptional(),
    done_checks: s.described(z.array(c.check), 'run once before it ends').exactOptional(),
    runs: s.described(c.runsByHash, 'hash to the runs of its own checks').exactOptional(),
    passes: count('how often its checks were run again since the newest claim, turn or follow-up'),
    claimed: count('the seq of the newest claim on one of its tasks').exactOptional(),
    moved: count('the seq at which it went on in another workspace').exactOptional(),
    baseline: count('the seq of its newest record of guarded files').exactOptional(),
    looked: s
      .described(
        z.object({ turn_id: z.string(), seq: z.int(), why: c.runReason, fingerprint: z.string().exactOptional() }),
        'the workspace as the newest run saw it',
      )
      .exactOptional(),
    is_taken: s.described(z.literal(true), 'its open tasks went to another plan').exactOptional(),
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

const removedTask = exact<RemovedTask>()(
  z.object({
    task: s.task,
    seq: s.described(z.int(), 'the seq of its removal'),
    proof: c.taskProof.exactOptional(),
    rejections: z.int().exactOptional(),
  }),
)

const conversation = exact<ConversationSnapshot>()(
  z
    .object({
      version: s.described(z.int(), 'the version of this format; clients of another version cannot read it'),
      session_id: z.string(),
      seq: s.described(z.int(), 'follow the events from here'),
      created_at: s.instant.nullable(),
      updated_at: s.instant.nullable(),
      policy: s.policy.nullable(),
      titled_by: s.described(
        z.enum(['person', 'model']).nullable(),
        'who named it; null while its title is its first message or task',
      ),
      pinned: z.boolean(),
      archived: z.boolean(),
      active_at: s.described(s.instant.nullable(), 'when something was last done in it'),
      tasks: s.described(byTask(s.task), 'by id'),
      open: s.described(z.array(z.string()), 'the ids of the open tasks'),
      last_number: z.int(),
      last_position: z.number(),
      plans: s.described(z.record(z.string(), plan), 'by id'),
      edits: s.described(byTask(byTask(z.int())), "task and field to the seq of a person's newest edit"),
      rejections: s.described(byTask(z.int()), 'task to the number of times the assessor rejected it'),
      turns: s.described(z.record(z.string(), turn), 'by id'),
      running_turn: z.string().nullable(),
      latest_turn: z.string().nullable(),
      reviews: s.described(
        z.record(z.string(), review),
        'by id; only one that can be decided, reopened or compared with a plan that revises it has its rows',
      ),
      pending_reviews: z.array(z.string()),
      unheard_reviews: s.described(z.array(z.string()), 'decided reviews whose answer the agent has not received'),
      answered_seq: s.described(z.int(), 'the seq of the latest answer that the agent received'),
      proof: s.described(byTask(c.taskProof), 'task to what people and runs have said about its checks'),
      runs: s.described(z.record(z.string(), c.checkRecord), 'hash of a check to its runs'),
      claims: s.described(z.record(z.string(), c.openClaim), 'the claims that are not settled yet, by id'),
      requests: s.described(z.array(c.checkRequest), 'runs that were asked for, other than by claims'),
      removed: s.described(byTask(removedTask), 'the newest tasks that a person removed, by id'),
      queued: s.described(z.array(s.queuedMessage), 'messages that wait for the next model call, oldest first'),
      approvals: s.described(z.array(s.toolApproval), 'calls of tools that wait for a person, oldest first'),
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
    reopened: s
      .described(z.enum(['pending', 'decided']), 'a person reopened its plan, and its agent has not called since')
      .exactOptional(),
    is_over: z.literal(true).exactOptional(),
  }),
)

const message_id = s.described(z.string(), 'the message')
const mark = exact<Mark>()(
  z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('request'), message_id, toolset: s.toolset }),
      z.object({ kind: z.literal('said'), message_id, task_id: z.string().exactOptional() }),
      z.object({
        kind: z.literal('task'),
        task_id: z.string(),
        number: z.int(),
        title: z.string(),
        status: s.described(z.enum([...STATUSES, 'removed']), 'as the turn left it, or leaves it so far'),
        outcome: z.string().exactOptional(),
      }),
      z.object({
        kind: z.literal('claim'),
        ...c.claimFields,
        result: s.described(z.enum(['granted', 'refused']), 'absent while it is checked and judged').exactOptional(),
        because: s.described(claimEnd, 'what decided it').exactOptional(),
      }),
      z.object({ kind: z.literal('verdict'), at: s.instant, ...verdictFields }),
      z.object({ kind: z.literal('run'), seq: s.described(z.int(), 'the event that has all of it'), ...ranFields }),
      z.object({
        kind: z.literal('report'),
        seq: s.described(z.int(), 'the event that has all of it'),
        subject: s.described(z.string(), 'the first text of its arguments'),
        ...reportFields,
      }),
      z.object({ kind: z.literal('follow_up'), message_id: message_id.exactOptional() }),
      z.object({
        kind: z.literal('plan'),
        review_id: z.string(),
        proposed: s.described(z.array(z.string()), 'the titles'),
        asked_at: s.instant,
        decided_at: s.described(s.instant, 'absent while it waits').exactOptional(),
      }),
      z.object({ kind: z.literal('failure'), ...failureFields }),
      z.object({ kind: z.literal('end'), at: s.instant, ...endFields }),
    ])
    .meta({ id: 'Mark', description: 'Something that happened in a turn, for the thread' }),
)

const view = exact<View>()(
  z
    .object({
      title: z.string().nullable(),
      messages: z.array(s.message),
      resolutions: s.described(z.record(z.string(), resolution), 'review to how it ended'),
      limited,
      added: s.described(byTask(z.int()), 'task to the seq at which a person added it'),
      before: s.described(
        byTask(byTask(s.json)),
        "task to the fields that a person changed since the agent's last answer, as they were then",
      ),
      work: s.described(z.record(z.string(), work), 'turn to when its agent was at work'),
      thread: s.described(z.record(z.string(), z.array(mark)), 'turn to what happened in it, in order'),
    })
    .meta({ id: 'View', description: 'What a page shows besides the state' }),
)
export const snapshot = exact<wire.SnapshotAnswer>()(z.object({ conversation, view }))

export const timeline = exact<wire.TimelineAnswer>()(z.object({ events: z.array(event), seq: z.int() }))
export const oneEvent = exact<wire.EventAnswer>()(z.object({ event }))
export const policy = exact<wire.PolicyAnswer>()(z.object({ policy: s.policy, seq: z.int() }))
export const queuedMessage = exact<wire.QueuedMessageAnswer>()(z.object({ message: s.queuedMessage, seq: z.int() }))
const turn_id = z.string()
export const sentMessage = exact<wire.SentMessageAnswer>()(
  z.object({
    message: s.queuedMessage,
    turn_id: s.described(turn_id, 'the turn that it joins or starts'),
    started: s.described(z.literal(true), 'no turn was running, so this one was started').exactOptional(),
    seq: z.int(),
  }),
)
export const sentNow = exact<wire.SentNowAnswer>()(
  z.object({
    turn_id: s.described(turn_id, 'the turn that stops for the message, or that was started with it'),
    started: s.described(z.literal(true), 'no turn was running, so this one was started').exactOptional(),
    seq: z.int(),
  }),
)
export const oneTurn = exact<wire.TurnAnswer>()(z.object({ turn: s.turn, seq: z.int() }))

export const tasks = exact<wire.TasksAnswer>()(z.object({ tasks: z.array(s.taskView), next_cursor, seq: z.int() }))
export const foundTasks = exact<wire.FoundTasksAnswer>()(
  z.object({ tasks: z.array(s.taskView), next_cursor, indexing }),
)

const part = z.object({
  text: z.string(),
  match: s.described(z.literal(true), 'it is what was searched for').exactOptional(),
})
const parts = s.described(z.array(part), 'the text in parts')
const excerpt = s.described(z.array(part), 'the surroundings of the first match in parts; empty without one')
const inSession = { session_id: z.string(), session_title: z.string().nullable(), created_at: s.instant }

export const search = exact<wire.SearchAnswer>()(
  z.object({
    results: z.array(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('conversation'), ...inSession, title: parts }),
        z.object({
          kind: z.literal('task'),
          ...inSession,
          task_id: z.string(),
          number: z.int(),
          status: s.taskStatus,
          title: parts,
          excerpt,
        }),
        z.object({
          kind: z.literal('message'),
          ...inSession,
          message_id: z.string(),
          turn_id: z.string().nullable(),
          role: z.enum(['user', 'assistant']),
          excerpt,
        }),
      ]),
    ),
    indexing: s.described(z.boolean(), 'older texts are still being indexed: there may be more'),
  }),
)
const verdict = exact<wire.VerdictView>()(
  z
    .object({
      at: s.instant,
      verdict: s.described(z.enum(['ok', 'not_ok', 'unknown']), '`unknown` settles nothing'),
      reason: s.described(z.string(), "the assessor's words"),
      model: s.described(z.string(), "the assessor's model"),
      cited: s.described(z.array(z.string()), 'the ids of the evidence that it names'),
      uncited: s.described(z.literal(true), 'an ok that names no evidence, although there was some').exactOptional(),
      on_words_alone: s.described(z.literal(true), 'an ok without any evidence').exactOptional(),
      fenced: s.described(z.literal(true), 'a person changed the task meanwhile: it had no effect').exactOptional(),
      claim_id: s.described(z.string(), 'the claim that it is about').exactOptional(),
    })
    .meta({ id: 'Verdict', description: 'One answer of the assessor' }),
)
const claim = exact<wire.ClaimView>()(
  z
    .object({
      claim_id: z.string(),
      at: s.instant,
      status: s.described(z.enum(['completed', 'cancelled']), 'what is claimed'),
      outcome: s.described(z.string(), 'the result, in the words of the model').exactOptional(),
      result: s.described(z.enum(['granted', 'refused']), 'absent while it is checked and judged').exactOptional(),
      because: s.described(claimEnd, 'what decided it').exactOptional(),
    })
    .meta({ id: 'Claim', description: "A model's word that the task is settled" }),
)
const evidenceView = exact<wire.EvidenceView>()(
  z
    .object({
      id: s.described(z.string(), 'what verdicts cite'),
      at: s.instant,
      ...s.toolFact,
      source: s.described(
        z.enum(['run', 'host', 'agent']),
        '`run`: a turn of this server made the call; else who says so',
      ),
      seq: s.described(z.int(), 'the event that has the answer'),
    })
    .meta({ id: 'Evidence', description: 'A tool call with its answer, in short if they are long' }),
)
export const evidence = exact<wire.EvidenceAnswer>()(
  z.object({
    task_id: z.string(),
    verdicts: z.array(verdict),
    claims: z.array(claim),
    evidence: z.array(evidenceView),
    left_out: s.described(
      z.array(z.object({ tool: z.string(), calls: z.int(), failed: z.int() })),
      'calls that are not listed, by tool',
    ),
    seq: z.int(),
  }),
)
export const evidenceAdded = exact<wire.EvidenceAdded>()(
  z.discriminatedUnion('stored', [
    z.object({ stored: z.literal(true), evidence_id: z.string(), task_id: z.string(), seq: z.int() }),
    z.object({
      stored: z.literal(false),
      because: s.described(z.enum(['no_task_in_progress', 'turn_is_full']), 'a turn has at most 1,000'),
      seq: z.int(),
    }),
  ]),
)
export const task = exact<wire.TaskAnswer>()(z.object({ task: s.taskView, seq: z.int() }))

const reviewOrigin = exact<wire.ReviewOrigin>()(
  z.object({
    review_id: z.string(),
    asked_at: s.described(z.iso.datetime(), 'when it was opened'),
    model: s.described(z.string(), 'the model of a turn of this server').exactOptional(),
    client: s.described(z.string(), 'the program elsewhere that opened the turn and its folder').exactOptional(),
  }),
)
const waitingApproval = exact<wire.WaitingApproval>()(
  s.toolApproval
    .pick({ approval_id: true, turn_id: true, tool: true, server: true, server_tool: true, asked_at: true })
    .extend({ session_id: z.string() }),
)
export const reviews = exact<wire.ReviewsAnswer>()(
  z.object({
    reviews: z.array(s.review),
    sessions: s.described(z.array(s.session), 'the conversations that they belong to, each once'),
    origins: s.described(z.array(reviewOrigin), 'with `origins=true`: where each came from').exactOptional(),
    approvals: s
      .described(
        z.array(waitingApproval),
        'with `approvals=true`: calls of tools that wait, oldest first, in the newest 200 conversations and the newest 200 archived ones',
      )
      .exactOptional(),
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
export const extended = exact<wire.ExtendAnswer>()(z.object({ review: s.review }))

export const templates = exact<wire.TemplatesAnswer>()(z.object({ templates: z.array(s.template) }))

const summary = exact<wire.ToolsetSummary>()(
  z.object({
    name: s.toolset,
    review: s.described(z.boolean(), 'this and the next three: of a new conversation'),
    review_timeout_ms: z.int().nullable(),
    assessor: z.boolean(),
    gate: z.boolean(),
    scope: z.enum(['turn', 'conversation']),
    tools: z.array(z.string()),
  }),
)
export const toolsets = exact<wire.ToolsetsAnswer>()(z.object({ default: s.toolset, toolsets: z.array(summary) }))
export const toolset = exact<wire.ToolsetAnswer>()(
  z.object({ name: s.toolset, tools: z.array(s.json), prompt: z.string() }),
)
export const retryGuidance = exact<wire.RetryAnswer>()(z.object({ guidance: z.string() }))
export const answeredCall = exact<wire.AnsweredCall>()(z.object({ result: s.json }))
export const pendingCall = exact<wire.PendingCall>()(
  z.object({ status: z.literal('pending_review'), review_id: z.string() }),
)
export const checkingCall = exact<wire.CheckingCall>()(
  z.object({ status: z.literal('checking'), claim_id: z.string() }),
)
export const models = exact<wire.ModelsAnswer>()(
  z.object({
    models: z.array(
      z.object({
        name: z.string(),
        default: z.boolean(),
        sandbox: s.described(z.literal(true), 'the demo model, where it has a sandbox to act in').exactOptional(),
      }),
    ),
  }),
)
