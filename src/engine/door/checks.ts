import { createHash } from 'node:crypto'
import { labelOf, splitWords } from '../../core/proof/check-text.ts'
import { isSamePlace } from '../../core/proof/check-state.ts'
import {
  MAX_CHECKS,
  cleanCheck,
  cleanCommand,
  specOf,
  type Check,
  type CheckSpec,
  type WithPrograms,
  type Workspace,
} from '../../core/proof/check.ts'
import type { NewTask, TaskChange } from '../../core/model/command.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import { findTask } from '../../core/decide/tasks.ts'
import { workspaceIn, type Need } from '../../core/model/needs.ts'
import { checkedOf, planById } from '../../core/model/plan.ts'
import { isApproved, workspaceOf } from '../../core/proof/proof.ts'
import { Refusal, invalidField, invalidId } from '../../core/model/refusal.ts'
import type { Decision } from '../../core/model/review-action.ts'
import type { DraftRow, SubmittedRow } from '../../core/model/review.ts'
import type { Task } from '../../core/model/task.ts'
import { Problem, isId } from '../../core/model/text.ts'
import type { PersonsFields, SentChecks, SentDecision, SentRow } from '../../core/views/wire.ts'
import { sorted } from './transaction.ts'
import type { Ref } from '../../store/store.ts'

/** Parses command lines and computes the hash that a person approves. */
export interface CheckMaker {
  split(line: string): readonly string[] | Problem
  /** Hashes everything that decides what would run. */
  hash(spec: WithPrograms, workspace: Workspace | undefined): string
  programs?(spec: CheckSpec, workspace: Workspace | undefined): Check['programs']
  /** True if this process judges claims of external agents. */
  judges?(): boolean
  /**
   * Returns the checks that turns in this workspace can use, by default in the workspace of new turns; undefined for
   * none.
   */
  offered?(workspace?: Workspace): CallChecks | undefined
  isGone?(workspace: Workspace): boolean
  /** Set if turns that this process drives have a workspace of their own. */
  readonly own?: Workspace | undefined
}

/** True if no process can serve a need because its folder, on this machine, is gone. */
export function isGone(checks: CheckMaker, need: Need): boolean {
  const workspace = workspaceIn(need)
  return workspace !== undefined && (checks.isGone?.(workspace) ?? false) && !checks.offered?.(workspace)
}

/** The fields of a model's row that need a workspace. */
export interface CheckedRow {
  readonly check?: string | undefined
  readonly scope?: readonly string[] | undefined
}

export type MadeRow = Pick<NewTask, 'checks' | 'allowed' | 'scope' | 'asks_scope'>

export interface CallChecks {
  readonly workspace: Workspace
  /** Checks that run once before a plan ends. */
  readonly done: readonly Check[]
  readonly commands: readonly string[]
  /** Parses a model's command line into a check, and tells its globs that need a person's word apart. */
  readonly fromRow: (row: CheckedRow) => MadeRow | Refusal
}

interface Making {
  readonly checks: CheckMaker
  readonly newId: () => string
}

/**
 * Prepares a person's new task. All `prepared…` functions throw a refusal if a check is invalid and accept no id or
 * hash from outside.
 */
export function preparedTask(state: Conversation, door: Making, id: string, sent: PersonsFields): NewTask {
  const { checks, check, approve: _approve, ...fields } = sent
  const turn = state.turns.get(state.running_turn ?? state.latest_turn ?? '')
  return { ...fields, ...prepareChecks({ checks, check }, [], turn?.workspace, door).fields, id }
}

/**
 * Prepares a person's change to a task. If it moves checks out of a deleted folder, the plan's other checks in that
 * folder move too.
 */
export function preparedChanges(
  state: Conversation,
  door: Making,
  ref: string | number,
  sent: PersonsFields,
  if_version?: number,
): readonly TaskChange[] {
  const change = preparedChange(state, door, ref, sent, if_version)
  const task = findTask(state, ref)
  const home = task && workspaceOf(state, task)
  const workspace = change.fields.checks?.length ? standIn(home, door.checks) : undefined
  if (!task || !workspace) return [change]
  const others = checkedOf(state, planById(state, task.plan_id)).filter(
    other => other.id !== task.id && isSamePlace(workspaceOf(state, other), home),
  )
  return [change, ...others.flatMap(other => movedTo(workspace, state, other, door))]
}

function movedTo(workspace: Workspace, state: Conversation, task: Task, door: Making): readonly TaskChange[] {
  const moves = (check: Check): boolean => check.kind !== 'person' && isApproved(state, task.id, check)
  const checks = (task.checks ?? []).map(check =>
    moves(check) ? { ...madeCheck(specOf(check), door.newId(), door.checks, workspace), workspace } : check,
  )
  return task.checks?.some(moves) ? [{ task: task.id, fields: { checks } }] : []
}

export function preparedChange(
  state: Conversation,
  door: Making,
  ref: string | number,
  sent: PersonsFields,
  if_version?: number,
): TaskChange {
  const { checks, check, approve, ...fields } = sent
  const task = findTask(state, ref)
  const home = task && workspaceOf(state, task)
  const moved = standIn(home, door.checks) ?? task?.checks?.find(each => each.workspace)?.workspace
  const workspace = moved ?? home
  const known = checks === undefined && check === undefined ? [] : current(task?.checks ?? [], checks, workspace, door)
  const prepared = prepareChecks({ checks, check, approve }, known, workspace, door)
  const placed = moved && prepared.fields.checks ? { checks: placedIn(moved, prepared.fields.checks, known) } : {}
  return { task: ref, fields: { ...fields, ...prepared.fields, ...placed }, if_version, approve: prepared.approve }
}

const placedIn = (workspace: Workspace, checks: readonly Check[], known: readonly Check[]): readonly Check[] =>
  checks.map(check => (check.kind === 'person' || known.includes(check) ? check : { ...check, workspace }))

/** The workspace of this process, if the given one was deleted. */
const standIn = (workspace: Workspace | undefined, maker: CheckMaker): Workspace | undefined =>
  workspace && maker.isGone?.(workspace) ? maker.offered?.()?.workspace : undefined

/** Throws if a person requests a run that no process can do because the check's folder is gone. */
export function assertRunnable(
  state: Conversation,
  { checks }: Making,
  { task: ref, check_id }: { readonly task: string | number; readonly check_id: string },
): void {
  const task = findTask(state, ref)
  const check = task?.checks?.find(({ id }) => id === check_id)
  const workspace = task && workspaceOf(state, task)
  if (!task || !check || !workspace || !checks.isGone?.(workspace)) return
  const because = 'no_workspace'
  throw new Refusal('check_not_runnable', { task, check: labelOf(check), because, folder: workspace.path })
}

/**
 * Known checks that were sent back or whose hash is still the same. A rewritten check gets a new hash, for example
 * after a program changed.
 */
function current(
  known: readonly Check[],
  sent: SentChecks['checks'],
  workspace: Workspace | undefined,
  { checks: maker }: Making,
): readonly Check[] {
  const sentBack = new Set(Array.isArray(sent) ? sent.map((one: Partial<Check> | null) => one?.hash) : [])
  const isSame = (check: Check): boolean => madeCheck(specOf(check), check.id, maker, workspace).hash === check.hash
  return known.filter(check => sentBack.has(check.hash) || isSame(check))
}

export function preparedDecision(
  state: Conversation,
  door: Making,
  reviewId: string,
  decision: SentDecision,
): Decision {
  if (decision.action !== 'confirm' && decision.action !== 'revise') return decision
  const review = state.reviews.get(reviewId)
  const { workspace } = state.turns.get(review?.conversation_turn_id ?? '') ?? {}
  const prepared = (rows: readonly SentRow[]): readonly SubmittedRow[] =>
    preparedRows(rows, review?.draft_tasks ?? [], workspace, door)
  if (decision.action === 'confirm') return { ...decision, tasks: prepared(decision.tasks) }
  return { ...decision, tasks: decision.tasks && prepared(decision.tasks) }
}

export function preparedRows(
  rows: readonly SentRow[],
  draft: readonly DraftRow[],
  workspace: Workspace | undefined,
  door: Making,
): readonly SubmittedRow[] {
  const proposed = draft.flatMap(({ checks = [] }) => checks)
  return rows.map((row, index) => {
    // The domain refuses it.
    if (typeof row !== 'object' || row === null) return row
    const { checks, check, approve, ...fields } = row
    const known = [...(draft[row.draft_index ?? -1]?.checks ?? []), ...proposed]
    const prepared = prepareChecks({ checks, check, approve }, known, workspace, door, index)
    const { inserted } = prepared
    return { ...fields, ...prepared.fields, approve: prepared.approve, ...(inserted.length > 0 ? { inserted } : {}) }
  })
}

interface Prepared {
  readonly fields: { readonly checks?: readonly Check[] }
  readonly approve: readonly string[] | undefined
  /** Hashes of checks whose sent hash came from another place, such as a template. */
  readonly inserted: readonly string[]
}

/**
 * Prepares checks for storage. A check that equals a known one is that check; any other gets a new id and hash. A sent
 * id and hash only tell where the check came from.
 */
export function prepareChecks(
  { checks, check, approve }: SentChecks,
  known: readonly Check[],
  workspace: Workspace | undefined,
  { checks: maker, newId }: Making,
  row?: number,
): Prepared {
  if (approve !== undefined && !isTexts(approve)) throw invalidField('approve', { rule: 'not_an_array' }, row)
  if (checks !== undefined && check !== undefined) {
    throw invalidField('check', { rule: 'invalid', expected: 'left out where checks is sent' }, row)
  }
  const sent: unknown = checks ?? (check === undefined ? undefined : [{ kind: 'command', run: check }])
  if (sent === undefined) return { fields: {}, approve, inserted: [] }
  if (!Array.isArray(sent)) throw invalidField('checks', { rule: 'not_an_array' }, row)
  if (sent.length > MAX_CHECKS) {
    throw invalidField('checks', { rule: 'too_many', limit: MAX_CHECKS, got: sent.length }, row)
  }
  /** From the sent hash to the stored one. */
  const inserted = new Map<string, string>()
  const prepared = sent.map((raw: Partial<Check>, index: number): Check => {
    const field = `checks[${index}]`
    const spec =
      check === undefined
        ? cleanCheck(withWords(raw, `${field}.run`, maker, row), field, row)
        : cleanCommand(wordsIn(check, 'check', maker, row), 'check', row)
    if (spec instanceof Refusal) throw spec
    const same = known.find(other => contentOf(other) === contentOf(spec))
    if (same) return same
    const made = madeCheck(spec, newId(), maker, workspace)
    if (typeof raw.hash === 'string' && !known.some(({ id }) => id === raw.id)) inserted.set(raw.hash, made.hash)
    return made
  })
  return {
    fields: { checks: prepared },
    approve: approve?.map(hash => inserted.get(hash) ?? hash),
    inserted: [...inserted.values()],
  }
}

export function madeCheck(spec: CheckSpec, id: string, maker: CheckMaker, workspace: Workspace | undefined): Check {
  const programs = maker.programs?.(spec, workspace)
  const found = programs ? { ...spec, programs } : spec
  return { ...found, id, hash: maker.hash(found, workspace) }
}

function withWords(raw: unknown, field: string, maker: CheckMaker, row: number | undefined): unknown {
  const { run } = (raw ?? {}) as { readonly run?: unknown }
  return typeof run === 'string' ? { ...(raw as object), run: wordsIn(run, field, maker, row) } : raw
}

function wordsIn(line: string, field: string, maker: CheckMaker, row: number | undefined): readonly string[] {
  const run = typeof line === 'string' ? maker.split(line) : new Problem({ rule: 'not_text' })
  if (run instanceof Problem) throw invalidField(field, run.fact, row)
  return run
}

const isTexts = (raw: unknown): boolean => Array.isArray(raw) && raw.every(each => typeof each === 'string')

const contentOf = (check: CheckSpec & Partial<Check>): string => JSON.stringify(sorted(specOf(check)))

export const plainMaker: CheckMaker = {
  split: splitWords,
  hash: (spec, workspace) =>
    createHash('sha256')
      .update(JSON.stringify(sorted([specOf(spec), workspace ?? null])))
      .digest('hex'),
}

/** Returns the ref if both ids are valid, throws otherwise. Some stores use them as file names. */
export function checked<T extends Ref>(ref: T): T {
  checkTenant(ref.tenant)
  if (!isId(ref.conversation)) throw invalidId('session_id')
  return ref
}

export function checkTenant(tenant: string): void {
  if (!isId(tenant)) throw invalidId('tenant')
}
