import type { Standing } from '../../../core/proof/standing.ts'
import type { Task } from '../../../core/model/task.ts'
import { checkLabel } from '../parts/text.ts'
import type { PlanProof, TaskCheck } from './proof.ts'
import type { Strings } from '../texts/strings.ts'
import { notDoneWords, standingWords, tallyWords } from './progress.ts'
import type { TasksHandle } from './use-tasks.ts'

export interface RowMark {
  readonly kind: Standing | 'checking' | 'unticked' | 'failed' | 'changed' | 'rejected' | 'checks'
  readonly text: string
}

export function rowMark(task: Task, proof: PlanProof, strings: Strings): RowMark | undefined {
  const standing = proof.standingOf(task)
  const isRejected = proof.rejectionOf(task) !== undefined
  if (standing === undefined && !task.checks) return isRejected ? rejectedMark(strings) : undefined
  const checks = proof.checksOf(task)
  const claim = proof.claimOf(task)
  if (claim?.check?.kind === 'person') return { kind: 'unticked', text: strings.checks.waitsForYou }
  const running = checks.find(({ state }) => state === 'running')?.check
  if (claim || running) {
    const check = running ?? claim?.check
    const text = strings.checks.checking(check ? checkLabel(check, strings) : strings.timeline.actor.assessor)
    return { kind: 'checking', text }
  }
  return standing === undefined ? openMark(checks, isRejected, strings) : standingMark(standing, checks, strings)
}

function standingMark(standing: Standing, checks: readonly TaskCheck[], strings: Strings): RowMark {
  const word = strings.checks.standing[standing]
  if (checks.some(({ finding }) => finding === 'failed')) {
    return { kind: 'failed', text: `${word} · ${strings.checks.failsNow}` }
  }
  if (checks.some(({ finding }) => finding === 'changed' || finding === 'own_tests')) {
    return { kind: 'changed', text: `${word} · ${strings.checks.filesChanged}` }
  }
  const unapproved = countUnapproved(checks)
  const isOnWords = standing === 'reported' || standing === 'judged'
  return {
    kind: standing,
    text: isOnWords && unapproved > 0 ? `${word} · ${strings.checks.notApproved(unapproved)}` : word,
  }
}

const countUnapproved = (checks: readonly TaskCheck[]): number =>
  checks.filter(({ finding }) => finding === 'unapproved').length

function openMark(checks: readonly TaskCheck[], isRejected: boolean, strings: Strings): RowMark {
  // A check is expected to fail in its baseline run, before the work starts.
  const failed = checks.find(({ finding, last }) => finding === 'failed' && last?.why !== 'baseline')
  if (failed) {
    return {
      kind: 'failed',
      text: strings.timeline.changed(checkLabel(failed.check, strings), strings.checks.state.failed),
    }
  }
  if (isRejected) return rejectedMark(strings)
  const unapproved = countUnapproved(checks)
  const { count, notApproved } = strings.checks
  return { kind: 'checks', text: unapproved === checks.length ? notApproved(unapproved) : count(checks.length) }
}

const rejectedMark = ({ evidence }: Strings): RowMark => ({ kind: 'rejected', text: evidence.verdict.not_ok })

/**
 * The result of a settled plan: "All 5 steps done", "3 done, 2 blocked"; with checks also the standings. Undefined
 * while tasks remain.
 */
export function resultText(
  { counts, proof }: Pick<TasksHandle, 'counts' | 'proof'>,
  strings: Strings,
): string | undefined {
  const { done, total, remaining } = counts
  if (remaining > 0 || total === 0) return undefined
  if (!proof.hasChecks || done === 0) return tallyWords({ ...counts, open: 0, standings: undefined }, strings)
  const tally = strings.checks.tally(done, total, standingWords(proof.standings, strings))
  return [tally, ...notDoneWords(counts, strings)].join(' · ')
}

export function acceptWord({ status }: Task, hasComplaint: boolean, { checks, markDone }: Strings): string {
  if (status === 'completed') return checks.confirm
  return hasComplaint ? checks.acceptAnyway : markDone
}
