import { labelOf } from '../proof/check-text.ts'
import { findCheck } from '../proof/check-runs.ts'
import { planOf } from '../model/plan.ts'
import { unpassedChecks } from '../proof/check-state.ts'
import { tasksInView, type Conversation } from '../model/conversation.ts'
import { disputedTasks } from '../proof/dispute.ts'
import type { Instant } from '../model/instant.ts'
import { checkedBy } from '../proof/claims.ts'
import { countingChecks, proofOf, recordOf, type OpenClaim, type RunReason } from '../proof/proof.ts'
import { statusAt, type Review } from '../model/review.ts'
import { standingWordOf, type Standing } from '../proof/standing.ts'
import { planCount, type PlanCount } from './tally.ts'
import type { Task, TaskStatus } from '../model/task.ts'

export interface PlanStatus extends PlanCount {
  readonly tasks: readonly TaskLine[]
  /** Claims that are being checked or judged, and requested runs. */
  readonly checking: readonly Checking[]
  /** The plan's own checks that failed when they last ran. */
  readonly failing: readonly string[]
  readonly ticks: readonly { readonly task: number; readonly ask: string }[]
  /** Tasks whose dispute waits for a person, oldest dispute first. */
  readonly disputes: readonly { readonly task: number; readonly title: string; readonly reason: string }[]
  /** Pending reviews, oldest first. */
  readonly reviews: readonly Review[]
}

export interface TaskLine {
  readonly number: number
  readonly title: string
  readonly status: TaskStatus
  readonly standing: Standing | null
}

export interface Checking {
  /** The task's number; null for a check of the plan. */
  readonly task: number | null
  /** Its label; null while the judge is asked. */
  readonly check: string | null
  readonly why: RunReason
  readonly running: boolean
}

/** Undefined if the conversation has no plan and none is proposed. */
export function planStatus(state: Conversation, now: Instant): PlanStatus | undefined {
  const tasks = tasksInView(state)
  const reviews = state.pending_reviews
    .flatMap(id => state.reviews.get(id) ?? [])
    .filter(review => statusAt(review, now) === 'pending')
  if (tasks.length === 0 && reviews.length === 0) return undefined
  const claims = [...state.claims.values()].map(claim => claimed(state, claim))
  return {
    tasks: tasks.map(task => lineOf(state, task)),
    ...planCount(state, tasks),
    checking: [...claims.flatMap(({ checking }) => checking ?? []), ...requested(state)],
    failing: unpassedChecks(planOf(state, state.latest_turn ?? '')).map(labelOf),
    disputes: disputedTasks(state).map(({ number, title, dispute }) => ({
      task: number,
      title,
      reason: dispute?.reason ?? '',
    })),
    ticks: claims.flatMap(({ tick }) => tick ?? []),
    reviews,
  }
}

const lineOf = (state: Conversation, task: Task): TaskLine => ({
  number: task.number,
  title: task.title,
  status: task.status,
  standing: standingWordOf(state, task) ?? null,
})

function claimed(
  state: Conversation,
  claim: OpenClaim,
): { readonly checking?: Checking; readonly tick?: PlanStatus['ticks'][number] } {
  const task = state.tasks.get(claim.task_id)
  if (!task) return {}
  const judged = { checking: { task: task.number, check: null, why: 'claim', running: true } as const }
  if (checkedBy(state, claim).result !== 'waiting') return judged
  const { ticked } = proofOf(state, task.id)
  const next = countingChecks(state, task).find(check =>
    check.kind === 'person' ? !ticked.includes(check.id) : claim.results[check.hash] === undefined,
  )
  if (!next) return judged
  if (next.kind === 'person') return { tick: { task: task.number, ask: next.ask } }
  const running = recordOf(state, next.hash).started !== undefined
  return { checking: { task: task.number, check: labelOf(next), why: 'claim', running } }
}

const requested = (state: Conversation): Checking[] =>
  state.requests.flatMap(({ turn_id, task_id, hash, why }) => {
    const check = findCheck(state, turn_id, task_id, hash)
    const task = state.tasks.get(task_id ?? '')?.number ?? null
    const running = recordOf(state, hash).started !== undefined
    return check ? [{ task, check: labelOf(check), why, running }] : []
  })
