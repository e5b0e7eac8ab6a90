import { defined } from './defined.ts'
import type { EventData, NewEvent, StoredEvent } from './event.ts'
import { NOT_ACCEPTED } from '../proof/held-out.ts'
import { plusMs, type Instant } from './instant.ts'
import { withoutOrigin } from './origin.ts'
import {
  hasTasks,
  isUnplanned,
  listing,
  newPlan,
  openOf,
  planById,
  planIdOf,
  planOf,
  tasksOf,
  withTask,
  type Plan,
} from './plan.ts'
import { TOOLSETS, type Policy } from './policy.ts'
import type { CheckRecord, CheckRequest, OpenClaim, TaskProof } from '../proof/proof.ts'
import { isSamePlace } from '../proof/check-state.ts'
import { awaitsBaseline, awaitsFinal } from '../proof/check-runs.ts'
import { areChecked, claimOn, claimsOf } from '../proof/claims.ts'
import {
  PROOF_REDUCERS,
  afterEdit,
  afterRewording,
  afterScope,
  afterVerdict,
  changePlan,
  changeTurn,
  withoutTask,
} from '../proof/proof-log.ts'
import { isDisputed } from '../proof/dispute.ts'
import { dispatch, type Handlers } from './log.ts'
import { QUEUE_REDUCERS, withoutQueued, type QueuedMessage } from './queue.ts'
import { dueAt, isReopenable, type Review, type ReviewRequest, type ReviewStatus } from './review.ts'
import { broughtBack, isBack, withRemoved, type RemovedTask } from '../views/removed.ts'
import { activeAfter } from '../views/session-list.ts'
import { Table, valueIn, valuesIn, type Change, type Keyed } from './table.ts'
import { ASKED, byPosition, isGivenUp, isOpen, type Task } from './task.ts'
import { APPROVAL_REDUCERS, awaitsApproval, type ToolApproval } from './tool-approval.ts'
import type { Turn } from './turn.ts'

/** Raise it whenever the state or `apply` changes. Stores then ignore older snapshots and fold the log. */
export const SNAPSHOT_VERSION = 1

/** The state of one conversation, folded from its log. It holds what decisions need: no messages, no tool results. */
export interface Conversation {
  readonly session_id: string
  /** Follow the events from here. */
  readonly seq: number
  readonly created_at: Instant | null
  readonly updated_at: Instant | null
  readonly policy: Policy | null
  /** The author of the title; null while it is derived from the first message or task. */
  readonly titled_by: 'person' | 'model' | null
  readonly pinned: boolean
  readonly archived: boolean
  /** The time of the last activity. */
  readonly active_at: Instant | null
  /** By id. */
  readonly tasks: Table<Task>
  /**
   * The ids of the open tasks.
   *
   * At most 1,000.
   */
  readonly open: readonly string[]
  /** The ids of the tasks whose dispute waits for a person. */
  readonly disputed: readonly string[]
  readonly last_number: number
  /** The highest position ever used; new tasks go after it. */
  readonly last_position: number
  /** By id. */
  readonly plans: Table<Plan>
  /**
   * Task and field to the seq of a person's newest edit.
   *
   * This is the fence.
   */
  readonly edits: Table<Readonly<Record<string, number>>>
  /** Task to the judge's rejections since a person last changed its status or what it asks for. */
  readonly rejections: Table<number>
  /** By id. */
  readonly turns: Table<Turn>
  readonly running_turn: string | null
  readonly latest_turn: string | null
  /** By id. Rows are kept only while a review can be decided, reopened or compared with a plan that revises it. */
  readonly reviews: Table<Review>
  readonly pending_reviews: readonly string[]
  /** Decided reviews whose answer the agent has not received. */
  readonly unheard_reviews: readonly string[]
  /** The seq of the latest answer that the agent received. */
  readonly answered_seq: number
  /** Task to the statements of people and runs about its checks. */
  readonly proof: Table<TaskProof>
  /** Check hash to its runs. */
  readonly runs: Table<CheckRecord>
  /** The open claims, by id. */
  readonly claims: Table<OpenClaim>
  /** Requested runs, other than for claims. */
  readonly requests: readonly CheckRequest[]
  /** The newest tasks that a person removed, by id. */
  readonly removed: Table<RemovedTask>
  /** Messages that wait for the next model call, oldest first. */
  readonly queued: readonly QueuedMessage[]
  /** Tool calls that wait for a person, oldest first. */
  readonly approvals: readonly ToolApproval[]
}

export function emptyConversation(session_id: string): Conversation {
  return {
    session_id,
    seq: 0,
    created_at: null,
    updated_at: null,
    policy: null,
    titled_by: null,
    pinned: false,
    archived: false,
    active_at: null,
    tasks: Table.from(),
    open: [],
    disputed: [],
    last_number: 0,
    last_position: 0,
    plans: Table.from(),
    edits: Table.from(),
    rejections: Table.from(),
    turns: Table.from(),
    running_turn: null,
    latest_turn: null,
    reviews: Table.from(),
    pending_reviews: [],
    unheard_reviews: [],
    answered_seq: 0,
    proof: Table.from(),
    runs: Table.from(),
    claims: Table.from(),
    requests: [],
    removed: Table.from(),
    queued: [],
    approvals: [],
  }
}

/** Folds one more event into the state. */
export function apply(state: Conversation, event: StoredEvent): Conversation {
  return {
    ...state,
    // Unknown types from a newer version advance the seq and change nothing else.
    ...dispatch(REDUCERS, state, event, UNCHANGED),
    seq: event.seq,
    created_at: state.created_at ?? event.timestamp,
    updated_at: event.timestamp,
    active_at: activeAfter(state.active_at, event),
  }
}

export const fold = (state: Conversation, events: readonly StoredEvent[]): Conversation => events.reduce(apply, state)

export function stamped(state: Conversation, events: readonly NewEvent[], now: Instant): StoredEvent[] {
  return events.map((event, index) => ({
    type: event.type,
    timestamp: now,
    seq: state.seq + 1 + index,
    session_id: state.session_id,
    turn_id: event.turn_id,
    data: event.data,
  })) as StoredEvent[]
}

/** Fields of a state or of its snapshot, for reading. */
export type Reading<K extends keyof Conversation> = {
  readonly [F in K]: Conversation[F] extends Table<infer V> ? Keyed<V> : Conversation[F]
}

/** The input of the selectors below. */
export type ConversationLike = Open & Reading<'policy' | 'running_turn' | 'latest_turn'>

/** The tasks in list order, of the plan that a turn works on or of the whole conversation. */
export const listed = (state: Pick<ConversationLike, 'tasks' | 'turns' | 'plans'>, turnId?: string): Task[] =>
  turnId === undefined ? [...valuesIn(state.tasks)].sort(byPosition) : tasksOf(state, planOf(state, turnId))

type Open = Reading<'tasks' | 'open' | 'plans' | 'turns'>

/**
 * The open tasks in list order, of the plan that a turn works on or of the whole conversation. `remaining` is their
 * number.
 */
export function openTasks(state: Open, turnId?: string): Task[] {
  if (turnId !== undefined) return openOf(state, planOf(state, turnId))
  return state.open.flatMap(id => valueIn(state.tasks, id) ?? []).sort(byPosition)
}

/** The task in progress; a plan has at most one. */
export const currentTask = (state: Open, turnId?: string): Task | undefined =>
  openTasks(state, turnId).find(task => task.status === 'in_progress')

/**
 * The task that an agent elsewhere works on: the current one of the latest turn's plan, else the one that was started
 * last.
 */
export function taskInProgress(state: Open & Pick<ConversationLike, 'latest_turn'>): Task | undefined {
  const own = state.latest_turn === null ? undefined : currentTask(state, state.latest_turn)
  const started = (): Task[] => openTasks(state).filter(({ status }) => status === 'in_progress')
  return own ?? started().sort((a, b) => ((a.started_at ?? '') < (b.started_at ?? '') ? 1 : -1))[0]
}

export const givenUpIn = (state: Pick<ConversationLike, 'tasks'>, plan: Plan): number =>
  plan.dropped + tasksOf(state, plan).filter(isGivenUp).length

/**
 * The tasks that a panel shows, in list order: all, or under a turn-scoped toolset those of the running or latest
 * turn's plan.
 */
export function tasksInView(state: ConversationLike): Task[] {
  const isInView = inView(state)
  return listed(state).filter(isInView)
}

export function inView(state: ConversationLike): (task: Task) => boolean {
  if (!state.policy || TOOLSETS[state.policy.toolset].scope === 'conversation') return () => true
  const plan = planIdOf(state, state.running_turn ?? state.latest_turn ?? '')
  return task => task.plan_id === plan
}

export function editedSince(state: Conversation, task: Task, basis: number): Record<string, unknown> | undefined {
  const fields = Object.entries(state.edits.get(task.id) ?? {}).filter(([, seq]) => seq > basis)
  if (fields.length === 0) return undefined
  return Object.fromEntries(fields.map(([field]) => [field, task[field as keyof Task] ?? null]))
}

const awaitsReview = (state: Conversation, turnId: string): boolean =>
  state.pending_reviews.some(id => state.reviews.get(id)?.conversation_turn_id === turnId)

/** True while a turn waits for a review, an approval or checks. A parked turn holds no lease and no timer. */
export const isParked = (state: Conversation, turnId: string): boolean =>
  awaitsReview(state, turnId) || awaitsApproval(state, turnId) || awaitsChecks(state, turnId)

export const awaitsChecks = (state: Conversation, turnId: string): boolean =>
  awaitsBaseline(state, turnId) || awaitsFinal(state, turnId) || !areChecked(state, claimsOf(state, turnId))

/** A plan is finished when it has tasks, none is open, and no review is pending. */
export const isPlanOver = (state: Conversation, turnId: string): boolean =>
  !isParked(state, turnId) && openTasks(state, turnId).length === 0 && hasTasks(planOf(state, turnId))

export function nextDeadline(state: Conversation): Instant | undefined {
  return state.pending_reviews
    .flatMap(id => state.reviews.get(id) ?? [])
    .flatMap(review => dueAt(review) ?? [])
    .sort()[0]
}

/**
 * The review to continue with instead of this one: the one that reopened it, or the one that revises it once the agent
 * has received the request for changes.
 */
export function successorOf(state: Conversation, reviewId: string): string {
  const next = state.reviews.get(state.reviews.get(reviewId)?.successor ?? '')
  if (!next || (next.revises !== undefined && state.unheard_reviews.includes(reviewId))) return reviewId
  return successorOf(state, next.review_id)
}

const UNCHANGED: Partial<Conversation> = {}
const unchanged = (): Partial<Conversation> => UNCHANGED

/** `Required`: a new event type does not compile without a reducer. */
const REDUCERS: Required<Handlers<Conversation, Partial<Conversation>>> = /* @__PURE__ */ withParts({
  policy_set: (_, { data: { policy } }) => ({ policy }),
  title_set: (_, { data: { by } }) => ({ titled_by: by }),
  pin_set: (_, { data: { pinned } }) => ({ pinned }),
  archive_set: (_, { data: { archived } }) => ({ archived }),

  turn_opened: (state, { data, timestamp, seq }) => {
    const { turn_id, plan_id, client, workspace } = data
    const turn = { ...newTurn(turn_id, plan_id, 'open', timestamp), ...defined({ client, workspace }) }
    return {
      turns: state.turns.with(turn_id, turn),
      plans: withTurn(state, data, seq),
      latest_turn: turn_id,
    }
  },
  turn_started: (state, { data, timestamp, seq }) => {
    const { turn_id, plan_id, message_id, policy, model, workspace } = data
    return {
      ...withoutQueued(state, message_id),
      policy,
      // Writing in an archived conversation brings it back.
      archived: false,
      turns: state.turns.with(turn_id, {
        ...newTurn(turn_id, plan_id, 'running', timestamp),
        ...defined({ model, workspace }),
      }),
      plans: withTurn(state, data, seq),
      running_turn: turn_id,
      latest_turn: turn_id,
    }
  },
  plan_joined: (state, { data: { turn_id, plan_id, task_ids }, seq }) => {
    const left = planOf(state, turn_id)
    const { workspace, done_checks } = left
    // A plan without tasks is dropped when its only turn leaves it.
    const isNone = left.id === turn_id && left.id !== plan_id && left.turns.length === 1 && isUnplanned(left)
    const plans = isNone ? state.plans.without(left.id) : state.plans
    const { turns } = changeTurn(state, turn_id, { plan_id })
    const place = { turn_id, plan_id, ...defined({ workspace, done_checks }) }
    return { turns, ...moved({ ...state, plans: withTurn({ plans }, place, seq) }, task_ids, plan_id) }
  },
  turn_stop_requested: (state, { data: { turn_id } }) => ({
    ...changeTurn(state, turn_id, { stop_requested: true }),
    ...withoutRequests(state, turn_id),
  }),
  turn_failed: unchanged,
  turn_finished: (state, { data: { turn_id, status } }) => ({
    ...changeTurn(state, turn_id, { status }),
    ...withoutRequests(state, turn_id),
    running_turn: state.running_turn === turn_id ? null : state.running_turn,
  }),

  message_added: (state, { data }) => withoutQueued(state, data.message_id),
  step_finished: unchanged,
  tool_called: unchanged,
  tool_answered: (state, { seq, turn_id, data: { tool_call_id, review_id } }) => ({
    answered_seq: seq,
    unheard_reviews: state.unheard_reviews.filter(id => {
      const review = state.reviews.get(id)
      if (id === review_id) return false
      return review?.tool_call_id !== tool_call_id || review.conversation_turn_id !== turn_id
    }),
  }),
  todos_resubmitting: unchanged,
  todos_limit_reached: unchanged,
  // The model works on, so the plan's checks may run again.
  gate_followed: (state, { turn_id }) => changePlan(state, planIdOf(state, turn_id ?? ''), { passes: 0 }),

  task_created: (state, { data: { task, by } }) => ({
    ...putTask(state, task),
    ...(task.scope ? afterScope(state, task, by) : {}),
    last_number: Math.max(state.last_number, task.number),
  }),
  task_changed: (state, { data: { task, by, from }, seq }) => {
    const back = isBack(from) ? { ...state, ...broughtBack(state, task) } : state
    const moved = { ...back, ...putTask(back, task) }
    const fields = Object.keys(from)
    const put = 'scope' in from || isBack(from) ? { ...moved, ...afterScope(moved, task, by) } : moved
    if (by === 'model') return { ...put, ...afterRewording(put, task, fields) }
    if (by !== 'person' && by !== 'file') return put
    return { ...put, ...afterEdit(put, task, fields), ...noteEdit(put, task.id, fields, seq) }
  },
  task_removed: (state, event) => {
    const { task, by } = event.data
    const { plans } = { ...state, ...putPlan(state, state.tasks.get(task.id), undefined) }
    return {
      removed: withRemoved(state, event),
      tasks: state.tasks.without(task.id),
      open: state.open.filter(id => id !== task.id),
      disputed: state.disputed.filter(id => id !== task.id),
      edits: state.edits.without(task.id),
      rejections: state.rejections.without(task.id),
      ...withoutTask(state, task.id),
      ...changePlan({ plans }, task.plan_id, ({ counts, dropped }) => ({
        counts: { ...counts, removed: counts.removed + 1 },
        dropped: dropped + (by === 'model' ? 1 : 0),
      })),
    }
  },
  task_assessed: (state, event) => {
    const { task_id, verdict, hidden, fenced } = event.data
    const reason = hidden ? NOT_ACCEPTED : event.data.reason
    const claim = claimOn(state, task_id)
    // A new task that is claimed as done is created with the answer.
    if (fenced || !(claim || state.tasks.has(task_id))) return {}
    const claims = claim && state.claims.with(claim.claim_id, { ...claim, verdict: { verdict, reason } })
    return {
      ...defined({ claims }),
      ...(verdict === 'ok' ? afterVerdict(state, event) : {}),
      ...(verdict === 'not_ok'
        ? { rejections: state.rejections.with(task_id, (state.rejections.get(task_id) ?? 0) + 1) }
        : {}),
    }
  },

  task_create_review_required: (state, { data, timestamp }) => ({
    // A plan must not wait unseen.
    archived: false,
    reviews: succeeded(state, data).with(data.review_id, {
      ...withoutOrigin(data),
      asked_at: timestamp,
      panels: [],
      closes_at: null,
    }),
    pending_reviews: [...state.pending_reviews, data.review_id],
  }),
  task_create_review_resolved: (state, { data }) => ({
    ...changeReview(withoutRevised(state, data.review_id), data.review_id, review => {
      const { reason } = data
      const ended = { status: resolvedStatus(data), via: data.via, ...(reason === undefined ? {} : { reason }) }
      // Reopening needs the draft; otherwise the log and the review's row keep it.
      const draft_tasks = isReopenable(ended) ? review.draft_tasks : []
      return { ...ended, draft_tasks, panels: [], closes_at: null }
    }),
    pending_reviews: state.pending_reviews.filter(id => id !== data.review_id),
    // The new turn's message tells the agent the decision.
    unheard_reviews: data.continued_by ? state.unheard_reviews : [...state.unheard_reviews, data.review_id],
  }),
  review_extended: (state, { data: { review_id, expires_at } }) => changeReview(state, review_id, { expires_at }),
  review_panel_opened: (state, { data: { review_id, panel } }) =>
    changeReview(state, review_id, review => ({ panels: [...review.panels, panel], closes_at: null })),
  review_panel_left: (state, { data: { review_id, panel }, timestamp }) =>
    changeReview(state, review_id, review => {
      const panels = review.panels.filter(other => other !== panel)
      const grace = state.policy?.panel_grace_ms ?? null
      return { panels, closes_at: panels.length > 0 || grace === null ? null : plusMs(timestamp, grace) }
    }),
})

type Reducers = Required<Handlers<Conversation, Partial<Conversation>>>

type Parts = typeof PROOF_REDUCERS & typeof QUEUE_REDUCERS & typeof APPROVAL_REDUCERS

function withParts(own: Omit<Reducers, keyof Parts>): Reducers {
  return { ...own, ...PROOF_REDUCERS, ...QUEUE_REDUCERS, ...APPROVAL_REDUCERS }
}

/** A finished turn needs no runs except those a person requested. */
const withoutRequests = ({ requests }: Conversation, turnId: string): Pick<Conversation, 'requests'> => ({
  requests: requests.filter(({ turn_id, why }) => turn_id !== turnId || why === 'person'),
})

function newTurn(id: string, plan_id: string, status: 'open' | 'running', started_at: Instant): Turn {
  return { id, plan_id, status, stop_requested: false, started_at }
}

function withTurn(
  { plans }: Pick<Conversation, 'plans'>,
  {
    turn_id,
    plan_id,
    workspace,
    done_checks,
  }: Pick<EventData['turn_opened'], 'turn_id' | 'plan_id' | 'workspace' | 'done_checks'>,
  seq: number,
): Conversation['plans'] {
  const plan = plans.get(plan_id) ?? { ...newPlan(plan_id), turns: [] }
  const hasMoved = workspace && plan.workspace && !isSamePlace(workspace, plan.workspace)
  return plans.with(plan_id, {
    ...plan,
    turns: [...plan.turns.filter(id => id !== turn_id), turn_id],
    passes: 0,
    ...(workspace ? { workspace, ...defined({ done_checks }) } : {}),
    ...(hasMoved ? { moved: seq } : {}),
  })
}

function moved(state: Conversation, ids: readonly string[], plan_id: string): Partial<Conversation> {
  let { tasks, plans, proof } = state
  for (const id of ids) {
    const task = tasks.get(id)
    if (!task) continue
    const next = { ...task, plan_id }
    const left = planById({ plans }, task.plan_id)
    const known = proof.get(id)
    tasks = tasks.with(id, next)
    plans = plans.with(left.id, { ...withTask(left, task, undefined), is_taken: true })
    plans = plans.with(plan_id, withTask(planById({ plans }, plan_id), undefined, next))
    if (known) proof = proof.with(id, { confirmed_in: task.plan_id, ...known })
  }
  return { tasks, plans, proof }
}

function putTask(state: Conversation, task: Task): Partial<Conversation> {
  const before = state.tasks.get(task.id)
  return {
    tasks: state.tasks.with(task.id, task),
    last_position: Math.max(state.last_position, task.position),
    open: listing(state.open, before, task, isOpen),
    disputed: listing(state.disputed, before, task, isDisputed),
    ...putPlan(state, before, task),
  }
}

function putPlan(state: Conversation, before: Task | undefined, after: Task | undefined): Partial<Conversation> {
  const plan = planById(state, (after ?? before)?.plan_id ?? '')
  const next = withTask(plan, before, after)
  return next === plan ? {} : { plans: state.plans.with(plan.id, next) }
}

/** A person's edit fences the task. It clears the rejections if it changes what they were about. */
function noteEdit(
  state: Conversation,
  taskId: string,
  fields: readonly string[],
  seq: number,
): Pick<Conversation, 'edits' | 'rejections'> {
  const edits = { ...state.edits.get(taskId), ...Object.fromEntries(fields.map(field => [field, seq])) }
  const clears = fields.some(field => CLEARS_REJECTIONS.has(field))
  return {
    edits: state.edits.with(taskId, edits),
    rejections: clears ? state.rejections.without(taskId) : state.rejections,
  }
}

const CLEARS_REJECTIONS: ReadonlySet<string> = new Set(['status', ...ASKED])

function changeReview(state: Conversation, id: string, change: Change<Review>): Pick<Conversation, 'reviews'> {
  return { reviews: state.reviews.changed(id, change) }
}

/**
 * Records `next` as the successor of the review that it reopens or revises. A reopened review no longer needs its
 * draft.
 */
function succeeded(state: Conversation, next: ReviewRequest): Conversation['reviews'] {
  const earlier = next.reopens ?? next.revises
  if (earlier === undefined) return state.reviews
  const successor = { successor: next.review_id }
  return changeReview(state, earlier, next.reopens === undefined ? successor : { ...successor, draft_tasks: [] })
    .reviews
}

/** Drops the draft of a plan once the plan that revises it is decided: the two are no longer compared. */
function withoutRevised(state: Conversation, id: string): Conversation {
  const revised = state.reviews.get(id)?.revises
  return revised === undefined ? state : { ...state, ...changeReview(state, revised, { draft_tasks: [] }) }
}

function resolvedStatus({ action, reason, via }: EventData['task_create_review_resolved']): ReviewStatus {
  if (action === 'confirm') return 'confirmed'
  // Only the system expires a review. A person who gives this reason has cancelled it.
  return via === 'system' && reason === 'review_timeout' ? 'expired' : 'cancelled'
}
