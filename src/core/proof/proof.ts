import { COST, type Check, type CheckResult, type Workspace } from './check.ts'
import type { VerdictBasis } from './claims.ts'
import type { ModelEdit } from '../model/command.ts'
import type { Reading } from '../model/conversation.ts'
import type { Edge, EventData, Verdict } from '../model/event.ts'
import { isHidden } from './held-out.ts'
import type { Instant } from '../model/instant.ts'
import { planById, type Plan, type Plans } from '../model/plan.ts'
import type { ToolsetName } from '../model/policy.ts'
import { valueIn } from '../model/table.ts'
import type { Task } from '../model/task.ts'

/** The plan was confirmed, a task was claimed, the plan is about to end, or a person asked. */
export type RunReason = 'baseline' | 'claim' | 'final' | 'person'

interface Seen {
  readonly turn_id: string
  readonly at: Instant
}

/** A finished run. Without a fingerprint it is stale. Of a held-out check, only the log has exit code, reason and output. */
export type CheckRun = Omit<
  EventData['check_ran'],
  'task_id' | 'check_id' | 'hash' | 'claim_id' | 'output_sha256' | 'others'
> &
  Seen & { readonly seq: number }

/** A run under way. After a crash the retry replaces it. */
export type StartedRun = Omit<EventData['check_started'], 'hash'> & {
  readonly at: Instant
  /** The number of starts without an end. */
  readonly tries: number
}

/**
 * The runs of a check in one plan, without their output. They are kept per plan because their meaning depends on the
 * plan's confirmation.
 */
export interface PlanRuns {
  readonly last: CheckRun
  /** The earlier pass that still counts, if the last run was a rerun without a result. */
  readonly stood?: CheckRun
}

/** The record of one distinct check across plans. */
export interface CheckRecord {
  /** The last run, in any plan. */
  readonly last?: CheckRun
  readonly started?: StartedRun
  /** Plan to the result at its confirmation, if that was no failure: there the check only guards. */
  readonly guards?: Readonly<Record<string, CheckResult>>
  /** The tasks whose claims saw it turn green: one in each plan. For every other task of the plan it only guards. */
  readonly turned?: readonly TurnedTask[]
}

/** A task that a check turned green for. */
export interface TurnedTask {
  readonly task_id: string
  readonly plan_id: string
  /** The task was removed, or a model changed its text: nothing is proven, and no other task of its plan can be. */
  readonly gone?: true
}

/** The statements of people and runs about one task's checks. */
export interface TaskProof {
  /** The hashes of its approved checks. */
  readonly approved: readonly string[]
  /** Approved checks whose task a model has reworded since: they prove nothing. */
  readonly reworded?: readonly string[]
  /** Check hash to the result at confirmation. */
  readonly baseline: Readonly<Record<string, CheckResult>>
  /** The ids of the checks that a person ticked. */
  readonly ticked: readonly string[]
  /** A person gave or approved its scope. */
  readonly scoped?: true
  /** Check hash to the runs in its plan. */
  readonly runs?: Readonly<Record<string, PlanRuns>>
  /**
   * Check hash to the task of another plan for which the check turned green meanwhile, after it had failed this task's
   * baseline.
   */
  readonly spent?: Readonly<Record<string, string>>
  /** The plan whose record of files counts, if not its own. */
  readonly confirmed_in?: string
  /** Claims that a check refused since a person last changed the task. */
  readonly reds: number
  /** The judge's newest ok. */
  readonly verdict?: {
    readonly seq: number
    readonly rests?: VerdictBasis
    /** The worker's own model gave it. */
    readonly own?: true
  }
}

export const NO_PROOF: TaskProof = { approved: [], baseline: {}, ticked: [], reds: 0 }

/** Prefixes the id of a run: the live text of its output. */
export const CHECK_OUTPUT = 'check:'

/** Failed claims after which a task is blocked and further claims are refused unchecked. */
export const MAX_REDS = 5
export const MAX_RED_CLAIMS = MAX_REDS + 1

/** Starts of a run that dies with its process before it is given up. A handed back run does not count. */
export const MAX_TRIES = 2

/** A model's claim that a task is settled. */
export interface MadeClaim {
  readonly claim_id: string
  readonly task_id: string
  /** The call that claims it. */
  readonly tool_call_id: string
  /** The claimed status. */
  readonly status: 'completed' | 'cancelled'
  /** The claimed outcome. */
  readonly outcome: string
  /** A hash of the title, details, criteria and outcome that are claimed. */
  readonly seal: string
  /** The seq of the last event that the call was based on. */
  readonly basis: number
  /** The judge rules on it. */
  readonly judge?: true
  /** On the first claim of a call: the effects that the call has once its claims are settled. */
  readonly held?: HeldCall
}

/** A call that waits until its claims are settled. */
export interface HeldCall {
  readonly toolset: ToolsetName
  /** Absent for an answer in text. */
  readonly tool?: string
  /** A hash of the tool and its arguments, by which equal calls are recognized. */
  readonly call_hash?: string
  readonly edit: ModelEdit
  /** The way in that the call took. */
  readonly edge?: Edge
  /** The length of the longest list in its arguments. */
  readonly items: number
}

/** A claim that is being checked or judged. */
export interface OpenClaim extends MadeClaim {
  readonly turn_id: string
  readonly seq: number
  readonly at: Instant
  /** Check hash to the result of the claim's own run. */
  readonly results: Readonly<Record<string, CheckResult>>
  /** The judge's latest answer. */
  readonly verdict?: { readonly verdict: Verdict; readonly reason: string }
}

/** A requested run, other than for a claim. */
export type CheckRequest = Omit<EventData['check_requested'], 'origin' | 'pass'> & Seen

/** The input of these functions: a state or its snapshot. */
export type Proofs = Plans & Reading<'proof' | 'runs' | 'claims' | 'requests' | 'edits'>

export const proofOf = (state: Pick<Proofs, 'proof'>, taskId: string): TaskProof =>
  valueIn(state.proof, taskId) ?? NO_PROOF

const NO_RUNS: CheckRecord = {}

export const recordOf = (state: Pick<Proofs, 'runs'>, hash: string): CheckRecord => valueIn(state.runs, hash) ?? NO_RUNS

export const taskRuns = (state: Pick<Proofs, 'proof'>, taskId: string, hash: string): PlanRuns | undefined =>
  proofOf(state, taskId).runs?.[hash]

export const planRuns = ({ runs }: Plan, hash: string): PlanRuns | undefined => runs?.[hash]

/** The run whose result counts: the last one, unless that is a rerun without a result. */
export const countingRun = (runs: PlanRuns | undefined): CheckRun | undefined => runs?.stood ?? runs?.last

/** The end of a run's output, available while it is the last run of its check. */
export function tailOf(state: Pick<Proofs, 'runs'>, hash: string, run: CheckRun | undefined): string | undefined {
  const { last } = recordOf(state, hash)
  return last?.run_id === run?.run_id ? last?.tail : undefined
}

/** True if a check turned from red to green for a task with its current text. */
export const isProvenBy = ({ turned = [] }: CheckRecord, taskId: string): boolean =>
  turned.some(({ task_id, gone }) => task_id === taskId && !gone)

/** The task of the same plan, most often the given one, that a check turned green for. */
export const turnedInPlan = ({ tasks }: Pick<Proofs, 'tasks'>, { turned = [] }: CheckRecord, task: Task) =>
  turned.find(
    ({ task_id, plan_id }) => task_id === task.id || (valueIn(tasks, task_id)?.plan_id ?? plan_id) === task.plan_id,
  )

/** A person's check needs no approval: it runs nothing. */
export const isApproved = (state: Pick<Proofs, 'proof'>, taskId: string, check: Check): boolean =>
  check.kind === 'person' || proofOf(state, taskId).approved.includes(check.hash)

/** True if a check was approved for an earlier text of the task: it still counts, and proves nothing. */
export const isReworded = (state: Pick<Proofs, 'proof'>, taskId: string, { hash }: Pick<Check, 'hash'>): boolean =>
  proofOf(state, taskId).reworded?.includes(hash) ?? false

/** The checks of a task that count, cheapest first, held-out ones last. An unapproved check never runs and never blocks. */
export function countingChecks(state: Pick<Proofs, 'proof' | 'runs'>, task: Task): readonly Check[] {
  const cost = (check: Check): number =>
    (isHidden(check) ? 1e10 : 0) + COST[check.kind] * 1e9 + (recordOf(state, check.hash).last?.duration_ms ?? 0)
  return (task.checks ?? []).filter(check => isApproved(state, task.id, check)).toSorted((a, b) => cost(a) - cost(b))
}

export const workspaceOf = (state: Pick<Proofs, 'turns' | 'plans'>, task: Task): Workspace | undefined =>
  task.checks?.find(({ workspace }) => workspace)?.workspace ??
  valueIn(state.turns, task.conversation_turn_id)?.workspace ??
  planById(state, task.plan_id).workspace

/** The checks that a claim of this task waits for; none without a workspace. */
export const awaitedChecks = (
  state: Pick<Proofs, 'proof' | 'runs' | 'turns' | 'plans'>,
  task: Task,
): readonly Check[] => (workspaceOf(state, task) === undefined ? [] : countingChecks(state, task))

export const isChecked = (state: Pick<Proofs, 'proof' | 'runs' | 'turns' | 'plans'>, task: Task): boolean =>
  awaitedChecks(state, task).length > 0
