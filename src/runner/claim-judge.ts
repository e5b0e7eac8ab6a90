import type { CommandOf } from '../domain/command.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import { MAX_REPORTS } from '../domain/evidence.ts'
import { planIdOf } from '../domain/plan.ts'
import type { OpenClaim } from '../domain/proof.ts'
import type { Door, Lease } from '../door/door.ts'
import { type Work, work } from './evidence.ts'
import type { HeldLease } from './held-lease.ts'
import { type JudgeDeps, type JudgedTurn, verdictsOn } from './judge.ts'
import { isJudgeFailure } from './run.ts'

/** Rules on a claim of an agent elsewhere, under the lease of its turn. */
export type ClaimJudge = (
  held: HeldLease,
  claim: OpenClaim,
  signal: AbortSignal,
) => Promise<readonly CommandOf<'assess_task'>[]>

export interface ClaimJudgeDeps extends JudgeDeps {
  readonly door: Door
}

/** The judge of what agents elsewhere claim. Of their own tools it knows what they and their hosts report. */
export function claimJudge({ door, ...deps }: ClaimJudgeDeps): ClaimJudge {
  return async (held, claim, signal) => {
    const { lease } = held
    const state = await door.read(lease)
    const verdicts = await door.conversations.events(lease, { types: ['task_assessed'] })
    const own = verdicts.filter(
      (event): event is StoredEvent<'task_assessed'> => event.type === 'task_assessed' && event.turn_id === lease.turn,
    )
    const failures = own.reduce((count, { data }) => (isJudgeFailure(data) ? count + 1 : 0), 0)
    const turn: JudgedTurn = {
      work: await reportedWork(door, lease, state),
      run: { state, verdicts: own.length, judgeFailures: failures },
      confirmLease: each => held.confirm(each),
      eventsOf: (task, types) => door.conversations.events(lease, { task, types }),
    }
    return verdictsOn(turn, deps, claim, signal)
  }
}

/** The calls that were reported in a turn, or before it for tasks of its plan. */
async function reportedWork({ conversations }: Door, lease: Lease, state: Conversation): Promise<Work> {
  const reports = await conversations.events(lease, { types: ['evidence_added'], last: MAX_REPORTS })
  const isOfPlan = (taskId: string): boolean => {
    const task = state.tasks.get(taskId)
    return task?.plan_id === planIdOf(state, lease.turn)
  }
  return work.of(
    reports.filter(
      event => event.type === 'evidence_added' && (event.turn_id === lease.turn || isOfPlan(event.data.task_id)),
    ),
  )
}
