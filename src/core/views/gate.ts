import type { Check } from '../proof/check.ts'
import { openTasks, type Conversation } from '../model/conversation.ts'
import { answerText } from '../proof/dispute.ts'
import type { Json, StoredEvent } from '../model/event.ts'
import { checkedOf, lastTurnOf, planById, planIdOf, planOf, type Plan } from '../model/plan.ts'
import { checkState, planCheckState, unpassedChecks, whyOpen } from '../proof/check-state.ts'
import { checkedBy, claimOn } from '../proof/claims.ts'
import { isOpen, type Task } from '../model/task.ts'
import { isFinished } from '../model/turn.ts'

/** Follow-ups without progress before the gate gives up. */
export const MAX_FOLLOW_UPS = 3

export const GATE_EVENTS = [
  'gate_followed',
  'task_created',
  'task_changed',
  'claim_made',
  'task_create_review_resolved',
] as const

export interface HeldPlan {
  readonly turn: string
  readonly open: readonly Task[]
  readonly kept?: ReadonlyMap<string, string>
  /** The plan's own checks that did not pass when they last ran. */
  readonly failing: readonly Check[]
  /** Checks that passed before the workspace changed. */
  readonly stale: readonly Check[]
  /** Counts from 1; only follow-ups without progress. */
  readonly followUp: number
}

/**
 * The plan that an agent elsewhere left open, if the events of its host's turn confirmed or changed it. Undefined: the
 * agent may stop.
 */
export function heldPlan(state: Conversation, hostTurn: readonly StoredEvent[]): HeldPlan | undefined {
  if (!state.policy?.gate || state.running_turn !== null || state.pending_reviews.length > 0) return undefined
  const plan = workedOn(state, hostTurn)
  const turn = plan && state.turns.get(lastTurnOf(plan))
  if (!turn || isFinished(turn) || turn.stop_requested) return undefined
  const open = openTasks(state, turn.id).filter(task => !isBeingChecked(state, task))
  // While every open task is being checked, those results come first.
  const failing = open.length === openTasks(state, turn.id).length ? unpassedChecks(plan) : []
  const made = followUpsIn(state, turn.id, hostTurn)
  if ((open.length === 0 && failing.length === 0) || made >= MAX_FOLLOW_UPS) return undefined
  const kept = new Map(open.flatMap(task => withWhy(state, task)))
  return { turn: turn.id, open, kept, failing, stale: staleIn(state, plan), followUp: made + 1 }
}

function withWhy(state: Conversation, task: Task): readonly (readonly [string, string])[] {
  const why = answerText(task) ?? whyOpen(state, task)
  return why === undefined ? [] : [[task.id, why]]
}

export function followUpsIn(state: Conversation, turn: string, events: readonly StoredEvent[]): number {
  return events.reduce((count, event) => {
    if (event.type === 'gate_followed') return event.turn_id === turn ? count + 1 : count
    return event.type === 'task_changed' && settles({ state, turn }, event.data.task, event.data.from) ? 0 : count
  }, 0)
}

export function settles(
  { state, turn }: { readonly state: Conversation; readonly turn: string },
  task: Task,
  from: { readonly [field: string]: Json },
): boolean {
  const before = from['status'] as Task['status'] | undefined
  return before !== undefined && isOpen({ status: before }) && !isOpen(task) && task.plan_id === planIdOf(state, turn)
}

export const followedTasks = (tasks: readonly Task[]): readonly { readonly id: number; readonly title: string }[] =>
  tasks.map(({ number, title }) => ({ id: number, title }))

/** The newest plan that an agent's events are about. A person's edits do not count. */
function workedOn(state: Conversation, events: readonly StoredEvent[]): Plan | undefined {
  return events.flatMap(event => planIn(state, event) ?? []).at(-1)
}

function planIn(state: Conversation, event: StoredEvent): Plan | undefined {
  switch (event.type) {
    case 'task_created':
    case 'task_changed':
      return event.data.by === 'model' ? planWith(state, event.data.task.id) : undefined
    case 'claim_made':
      return planWith(state, event.data.task_id)
    case 'task_create_review_resolved': {
      const { action, review_id, continued_by } = event.data
      // Confirmed while the agent was busy with another question: it does not know of it yet.
      if (action !== 'confirm' || state.unheard_reviews.includes(review_id)) return undefined
      return planOf(state, continued_by ?? event.turn_id ?? '')
    }
    default:
      return undefined
  }
}

function planWith(state: Conversation, taskId: string): Plan | undefined {
  const task = state.tasks.get(taskId)
  return task && planById(state, task.plan_id)
}

/** The agent has claimed the task, and its checks or a person decide next. */
function isBeingChecked(state: Conversation, { id }: Task): boolean {
  const claim = claimOn(state, id)
  return claim !== undefined && checkedBy(state, claim).result === 'waiting'
}

function staleIn(state: Conversation, plan: Plan): readonly Check[] {
  const done = checkedOf(state, plan).filter(({ status }) => status === 'completed')
  const checks = [
    ...done.flatMap(task => (task.checks ?? []).filter(check => checkState(state, task, check) === 'stale')),
    ...(plan.done_checks ?? []).filter(check => planCheckState(state, plan, check) === 'stale'),
  ]
  return [...new Map(checks.map(check => [check.hash, check])).values()]
}
