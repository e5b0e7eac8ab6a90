import type { Standing } from '../domain/standing.ts'
import type { Task } from '../domain/task.ts'
import { checkLabel } from './check-text.ts'
import type { PlanProof, TaskCheck } from './plan-proof.ts'
import type { Strings } from './strings.ts'
import type { TasksHandle } from './use-tasks.ts'

/** What the checks of a task come to, in a word or two. */
export interface RowMark {
  readonly kind: Standing | 'checking' | 'unticked' | 'failed' | 'guarded' | 'checks'
  readonly text: string
}

/** The mark of a task's row; undefined where there is nothing to say. */
export function rowMark(task: Task, proof: PlanProof, strings: Strings): RowMark | undefined {
  const standing = proof.standingOf(task)
  if (standing === undefined && !task.checks) return undefined
  const checks = proof.checksOf(task)
  const claim = proof.claimOf(task)
  if (claim?.check?.kind === 'person') return { kind: 'unticked', text: strings.checks.waitsForYou }
  const running = checks.find(({ state }) => state === 'running')?.check
  if (claim || running) {
    const check = running ?? claim?.check
    const text = strings.checks.checking(check ? checkLabel(check, strings) : strings.timeline.actor.assessor)
    return { kind: 'checking', text }
  }
  return standing === undefined ? openMark(checks, strings) : standingMark(standing, checks, strings)
}

function standingMark(standing: Standing, checks: readonly TaskCheck[], strings: Strings): RowMark {
  const word = strings.checks.standing[standing]
  if (checks.some(({ finding }) => finding === 'failed')) {
    return { kind: 'failed', text: `${word} · ${strings.checks.failsNow}` }
  }
  if (checks.some(({ finding }) => finding === 'guarded')) {
    return { kind: 'guarded', text: `${word} · ${strings.checks.filesChanged}` }
  }
  return { kind: standing, text: word }
}

function openMark(checks: readonly TaskCheck[], strings: Strings): RowMark {
  // What fails before the work has begun is as it should be.
  const failed = checks.find(({ finding, last }) => finding === 'failed' && last?.why !== 'baseline')
  if (failed) {
    return { kind: 'failed', text: `${checkLabel(failed.check, strings)}: ${strings.checks.state.failed}` }
  }
  return { kind: 'checks', text: strings.checks.count(checks.length) }
}

/** How far the "done" of a finished plan can be trusted; undefined while tasks remain, and for a plan without checks. */
export function tallyText(
  { counts, proof }: Pick<TasksHandle, 'counts' | 'proof'>,
  strings: Strings,
): string | undefined {
  if (!proof.hasChecks || counts.done === 0 || counts.remaining > 0) return undefined
  const words = strings.checks.standingCount
  const parts = (Object.keys(words) as Standing[]).flatMap(standing => {
    const count = proof.standings[standing]
    return count > 0 ? words[standing](count) : []
  })
  return strings.checks.tally(counts.done, counts.total, parts)
}
