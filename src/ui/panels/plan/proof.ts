import type { Client } from '../../../client/client.ts'
import type { Check } from '../../../core/proof/check.ts'
import type { ConversationLike } from '../../../core/model/conversation.ts'
import type { EventData, StoredEvent } from '../../../core/model/event.ts'
import type { Instant } from '../../../core/model/instant.ts'
import { checkState, planCheckState, type CheckState } from '../../../core/proof/check-state.ts'
import { planOf, tasksOf } from '../../../core/model/plan.ts'
import { checkedBy, claimOn } from '../../../core/proof/claims.ts'
import {
  countingChecks,
  planRuns,
  recordOf,
  tailOf,
  taskRuns,
  workspaceOf,
  type CheckRun,
  type Proofs,
  type StartedRun,
} from '../../../core/proof/proof.ts'
import type { FileChange } from '../../../core/proof/file-change.ts'
import { planChanges, waitingChanges } from '../../../core/proof/scope.ts'
import { findingOf, standingWordOf, standingsOf, type Finding, type Standing } from '../../../core/proof/standing.ts'
import type { Task } from '../../../core/model/task.ts'

/** A check of a task with its state. */
export interface TaskCheck {
  readonly check: Check
  /** `queued`: a run is requested and waits for others. */
  readonly state: CheckState | 'queued'
  readonly finding: Finding
  /** Changes that a person has to accept before the check proves anything. */
  readonly changes: readonly FileChange[]
  readonly last: CheckRun | undefined
  /** The start of the current run. */
  readonly startedAt: Instant | undefined
  /** The end of the current run's output. */
  readonly output: string | undefined
  /** True if it is approved and the plan has a workspace. */
  readonly isRunnable: boolean
}

/** A check of the whole plan with its state. */
export interface PlanCheck extends Pick<TaskCheck, 'check' | 'last'> {
  readonly state: CheckState
  /** The end of the output: of the current run, or of the last run if it did not pass. */
  readonly output: string | undefined
  /** Changes that a person has to accept before the check counts. */
  readonly changes: readonly FileChange[]
}

/** The agent claims that a task is done, and the claim is being checked. */
export interface TaskClaim {
  /** The check that runs or waits; undefined while the judge decides. */
  readonly check: Check | undefined
}

/** How far the plan's "done" can be trusted, and a person's actions on its checks. */
export interface PlanProof {
  /** True if any task has checks. */
  readonly hasChecks: boolean
  /** The checks of the whole plan, which run once before it ends. */
  readonly ownChecks: readonly PlanCheck[]
  /** The number of completed tasks by standing. */
  readonly standings: Readonly<Record<Standing, number>>
  /** The standing of a completed task; undefined for other tasks. */
  readonly standingOf: (task: Task) => Standing | undefined
  readonly checksOf: (task: Task) => readonly TaskCheck[]
  readonly claimOf: (task: Task) => TaskClaim | undefined
  /** The judge's reason for not accepting an unfinished task; undefined if the latest turn has none. */
  readonly rejectionOf: (task: Task) => string | undefined
  /** True if checks of the task can run: its plan has a workspace. */
  readonly hasWorkspace: (task: Task) => boolean
  /** These resolve to whether the server accepted them; otherwise the plan's `error` says why not. */
  readonly run: (task: Task, check: Check) => Promise<boolean>
  readonly stop: (task: Task, check: Check) => Promise<boolean>
  readonly tick: (task: Task, check: Check) => Promise<boolean>
  /** Accepts changes that a task's checks wait for; without a task, those of the whole plan's checks. */
  readonly acceptChanges: (paths: readonly string[], task?: Task) => Promise<boolean>
  /** The end of a run's output; undefined if it could not be read. */
  readonly outputOf: (run: CheckRun) => Promise<string | undefined>
}

type LiveOutput = { readonly run_id: string; readonly text: string } | null
type PlanState = Proofs & Pick<ConversationLike, 'latest_turn'>

/** `attempt` reports failures. */
export function planProof(
  client: Client,
  session: string,
  state: PlanState,
  tasks: readonly Task[],
  live: LiveOutput,
  rejected: ReadonlyMap<string, string>,
  attempt: (work: Promise<unknown>) => Promise<boolean>,
): PlanProof {
  const checksOf = (task: Task): readonly TaskCheck[] =>
    (task.checks ?? []).map(check => taskCheck(state, task, check, live))
  return {
    hasChecks: tasks.some(({ checks }) => checks !== undefined),
    ownChecks: ownChecks(state, live),
    standings: standingsOf(state, tasks),
    standingOf: task => standingWordOf(state, task),
    checksOf,
    claimOf: task => taskClaim(state, task),
    rejectionOf: ({ id, status }) => (status === 'completed' ? undefined : rejected.get(id)),
    hasWorkspace: task => workspaceOf(state, task) !== undefined,
    run: (task, check) => attempt(client.runCheck(session, task.id, check.id)),
    stop: (task, check) => attempt(client.stopCheck(session, task.id, check.id)),
    tick: (task, check) => attempt(client.tickCheck(session, task.id, check.id)),
    acceptChanges: async (paths, task = tasksOf(state, planOf(state, state.latest_turn ?? ''))[0]) =>
      task !== undefined && attempt(client.acceptChanges(session, task.id, paths)),
    outputOf: async run => {
      let tail: string | undefined
      await attempt(client.event(session, run.seq).then(({ data }) => (tail = outputIn(data))))
      return tail
    },
  }
}

/** Of a run without output, the reason. */
function outputIn(data: StoredEvent['data']): string {
  const { tail, reason } = data as Partial<EventData['check_ran']>
  return tail || reason || ''
}

function ownChecks(state: PlanState, live: LiveOutput): readonly PlanCheck[] {
  const plan = planOf(state, state.latest_turn ?? '')
  return (plan.done_checks ?? []).map(check => {
    const { started } = recordOf(state, check.hash)
    const { last } = planRuns(plan, check.hash) ?? {}
    const output = liveText(live, started) ?? tailOf(state, check.hash, last)
    return { check, last, state: planCheckState(state, plan, check), output, changes: planChanges(plan, check) }
  })
}

const liveText = (live: LiveOutput, started: StartedRun | undefined): string | undefined =>
  live !== null && live.run_id === started?.run_id ? live.text : undefined

function taskCheck(state: Proofs, task: Task, check: Check, live: LiveOutput): TaskCheck {
  const { started } = recordOf(state, check.hash)
  const { last } = taskRuns(state, task.id, check.hash) ?? {}
  const tail = tailOf(state, check.hash, last)
  const finding = findingOf(state, task, check)
  const now = checkState(state, task, check)
  const isQueued = now !== 'running' && isWaiting(state, task, check)
  return {
    check,
    state: isQueued ? 'queued' : now,
    finding,
    changes: waitingChanges(state, task, check),
    last: last && tail !== undefined ? { ...last, tail } : last,
    startedAt: started?.at,
    output: liveText(live, started),
    isRunnable: check.kind !== 'person' && finding !== 'unapproved' && workspaceOf(state, task) !== undefined,
  }
}

/** True if a person or a claim requested a run. */
function isWaiting(state: Proofs, task: Task, check: Check): boolean {
  if (check.kind === 'person') return false
  if (state.requests.some(({ hash }) => hash === check.hash)) return true
  const claim = claimOn(state, task.id)
  return claim !== undefined && nextOf(state, task)?.id === check.id
}

function taskClaim(state: Proofs, task: Task): TaskClaim | undefined {
  return claimOn(state, task.id) ? { check: nextOf(state, task) } : undefined
}

function nextOf(state: Proofs, task: Task): Check | undefined {
  const claim = claimOn(state, task.id)
  if (!claim || checkedBy(state, claim).result === 'closed' || claim.status === 'cancelled') return undefined
  return countingChecks(state, task).find(check =>
    check.kind === 'person' ? checkState(state, task, check) !== 'passed' : claim.results[check.hash] === undefined,
  )
}
