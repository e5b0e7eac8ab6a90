import type { Check } from './check.ts'
import { labelOf } from './check-text.ts'
import { checkState, hasMoved, lastState } from './check-state.ts'
import type { VerdictBasis } from './claims.ts'
import {
  countingRun,
  isApproved,
  isProvenBy,
  isReworded,
  proofOf,
  recordOf,
  taskRuns,
  turnedInPlan,
  type Proofs,
} from './proof.ts'
import { changesText } from './file-change.ts'
import { isHidden } from './held-out.ts'
import { waitingChanges } from './scope.ts'
import { valueIn } from '../model/table.ts'
import { SEALED, type Task } from '../model/task.ts'
import type { CheckView, TaskView } from '../views/wire.ts'

/** The evidence behind a completed task, strongest first. */
export type Standing = 'proven' | 'confirmed' | 'judged' | 'reported'

/** A standing and its reasons. */
export interface Stood {
  readonly standing: Standing
  readonly reasons: readonly string[]
}

/** The standing of a completed task, derived from the log and never stored; undefined for any other task. */
export function standingOf(state: Proofs, task: Task): Stood | undefined {
  const standing = standingWordOf(state, task)
  if (!standing) return undefined
  const reasons = (task.checks ?? []).map(
    check => `${labelOf(check)}: ${reasonFor(state, task, check)}${sinceThen(state, task, check)}`,
  )
  return { standing, reasons: standing === 'proven' ? reasons : [wordFor(state, task), ...reasons] }
}

function sinceThen(state: Proofs, task: Task, check: Check): string {
  if (isAskedAgain(state, task, check)) return '; it is being checked again'
  return taskRuns(state, task.id, check.hash)?.stood ? '; a later run had no result' : ''
}

const isAskedAgain = (state: Proofs, { id }: Task, { hash }: Check): boolean => {
  const isAsked = recordOf(state, hash).started !== undefined || state.requests.some(request => request.hash === hash)
  return isAsked && taskRuns(state, id, hash) !== undefined
}

/** The standing of a completed task without reasons; undefined for any other task. */
export function standingWordOf(state: Proofs, task: Task): Standing | undefined {
  if (task.status !== 'completed') return undefined
  const findings = (task.checks ?? []).map(check => findingOf(state, task, check))
  if (findings.includes('proves') && !findings.some(finding => IN_THE_WAY.has(finding))) return 'proven'
  return task.judged_by === 'person' ? 'confirmed' : task.judged_by === 'assessor' ? 'judged' : 'reported'
}

function wordFor(state: Proofs, { id, judged_by }: Task): string {
  if (judged_by === 'person') return 'a person settled it'
  return judged_by === 'assessor' ? verdictReason(state, id) : "the agent's word"
}

const RESTS: Record<VerdictBasis, string> = {
  cited: 'the judge said ok, and named its evidence',
  uncited: 'the judge said ok, without naming evidence',
  words: 'the judge said ok, on words alone',
}

function verdictReason(state: Proofs, taskId: string): string {
  const { verdict } = proofOf(state, taskId)
  const said = verdict?.rests ? RESTS[verdict.rests] : 'the judge said ok'
  const edited = Object.entries(valueIn(state.edits, taskId) ?? {}).some(
    ([field, seq]) => (SEALED as readonly string[]).includes(field) && seq > (verdict?.seq ?? seq),
  )
  return `${said}${verdict?.own ? ", as the worker's own model" : ''}${edited ? ', and a person edited it since' : ''}`
}

/** The result of one check for the standing of its task. */
export type Finding =
  | 'unapproved'
  | 'failed'
  | 'stale'
  | 'not_passed'
  | 'changed'
  | 'own_tests'
  | 'ticked'
  | 'reworded'
  | 'proves'
  | 'passed_already'
  | 'proves_other'
  | 'never_failed'
  | 'not_seen'

const IN_THE_WAY: ReadonlySet<Finding> = new Set(['failed', 'stale', 'not_passed', 'changed', 'own_tests'])

/** What one check says about its task. */
export function findingOf(state: Proofs, task: Task, check: Check): Finding {
  if (!isApproved(state, task.id, check)) return 'unapproved'
  const now = lastState(state, task, check)
  if (now === 'failed' || now === 'stale') return now
  if (now !== 'passed') return 'not_passed'
  const changes = waitingChanges(state, task, check)
  if (changes.length > 0) return changes.every(({ is }) => is === 'own') ? 'own_tests' : 'changed'
  if (check.kind === 'person') return 'ticked'
  if (isReworded(state, task.id, check)) return 'reworded'
  const baseline = proofOf(state, task.id).baseline[check.hash]
  // Only a check that failed at the baseline can prove: breaking something and restoring it proves nothing.
  if (baseline === 'passed') return 'passed_already'
  if (baseline !== 'failed') return 'never_failed'
  if (isProvenBy(recordOf(state, check.hash), task.id)) return 'proves'
  return provenTaskInstead(state, task, check) ? 'proves_other' : 'not_seen'
}

function provenTaskInstead(state: Proofs, task: Task, { hash }: Check): Task | undefined {
  const other = turnedInPlan(state, recordOf(state, hash), task)
  const inPlan = other && !other.gone ? valueIn(state.tasks, other.task_id) : undefined
  return inPlan ?? valueIn(state.tasks, proofOf(state, task.id).spent?.[hash] ?? '')
}

function reasonFor(state: Proofs, task: Task, check: Check): string {
  switch (findingOf(state, task, check)) {
    case 'unapproved':
      return 'not approved, so it never runs'
    case 'failed':
      return 'fails now'
    case 'stale':
      return staleReason(state, task, check)
    case 'not_passed':
      return taskRuns(state, task.id, check.hash) ? 'had no result when it last ran' : 'has not passed'
    case 'changed':
      return `changed outside its scope: ${changedFiles(state, task, check)}`
    case 'own_tests':
      return `passed, own tests changed: ${changedFiles(state, task, check)}`
    case 'ticked':
      return 'a person ticked it'
    case 'reworded':
      return 'approved for other words, so it proves nothing until it is approved again'
    case 'proves':
      return `failed before, passes now${isPartial(state, task, check) ? PARTIAL : ''}`
    case 'passed_already':
      return 'passed already, so it only guards'
    case 'proves_other':
      return `proves task ${provenTaskInstead(state, task, check)?.number}, so here it only guards`
    case 'never_failed':
      return 'was not seen to fail at the start, so it only guards'
    case 'not_seen':
      return 'no claim on this text saw it turn, so it only guards'
  }
}

const isPartial = (state: Proofs, { id }: Task, { hash }: Check): boolean =>
  countingRun(taskRuns(state, id, hash))?.partial === true
const PARTIAL = '; there are too many files, so only protected files and those that checks name were compared'

/** The files of a held-out check are not named: they may tell what it reads. */
function changedFiles(state: Proofs, task: Task, check: Check): string {
  const changes = waitingChanges(state, task, check)
  if (!isHidden(check)) return changesText(changes).join(', ')
  return changes.length === 1 ? '1 file' : `${changes.length} files`
}

function staleReason(state: Proofs, task: Task, check: Check): string {
  if (hasMoved(state, task, check)) return 'passed before the plan went on in another folder'
  return countingRun(taskRuns(state, task.id, check.hash))?.fingerprint === undefined
    ? 'passed earlier, and what has changed since cannot be told'
    : 'passed before the workspace changed'
}

export function standingsOf(state: Proofs, tasks: readonly Task[]): Readonly<Record<Standing, number>> {
  const counts = { proven: 0, confirmed: 0, judged: 0, reported: 0 }
  for (const task of tasks) {
    const standing = standingWordOf(state, task)
    if (standing) counts[standing] += 1
  }
  return counts
}

/** Adds the state of its checks and, once completed, the task's standing. */
export function taskOnWire(state: Proofs, task: Task): TaskView {
  const { checks, ...fields } = task
  const stood = standingOf(state, task)
  return {
    ...fields,
    ...(checks ? { checks: checks.map(check => checkOnWire(state, task, check)) } : {}),
    ...(stood ? { standing: stood.standing, standing_reasons: stood.reasons } : {}),
  }
}

export const needsState = ({ checks }: Task): boolean => checks !== undefined

function checkOnWire(state: Proofs, task: Task, check: Check): CheckView {
  const baseline = proofOf(state, task.id).baseline[check.hash]
  const changes = waitingChanges(state, task, check)
  return {
    ...check,
    approved: isApproved(state, task.id, check),
    state: checkState(state, task, check),
    baseline: baseline === 'failed' || baseline === 'passed' ? baseline : 'not_run',
    ...(changes.length > 0 ? { changes } : {}),
  }
}
