import { createHash } from 'node:crypto'
import {
  type Check,
  type CheckSpec,
  cleanCheck,
  cleanCommand,
  MAX_CHECKS,
  specOf,
  type WithPrograms,
  type Workspace,
} from '../domain/check.ts'
import { labelOf } from '../domain/check-label.ts'
import { isSamePlace } from '../domain/check-state.ts'
import type { NewTask, TaskChange } from '../domain/command.ts'
import { splitWords } from '../domain/command-line.ts'
import type { Conversation } from '../domain/conversation.ts'
import { checkedOf, planById } from '../domain/plan.ts'
import { findTask } from '../domain/decide/tasks.ts'
import { type Need, workspaceIn } from '../domain/needs.ts'
import { isApproved, workspaceOf } from '../domain/proof.ts'
import { invalidField, Refusal } from '../domain/refusal.ts'
import type { Decision } from '../domain/review-action.ts'
import type { DraftRow, SubmittedRow } from '../domain/review.ts'
import type { Task } from '../domain/task.ts'
import { Problem } from '../domain/text.ts'
import type { PersonsFields, SentChecks, SentDecision, SentRow } from '../domain/wire.ts'
import { sorted } from './hash.ts'

/** Reads command lines, and says what exactly a person approves. */
export interface CheckMaker {
  /** The words of a command line, or what is wrong with it. */
  split(line: string): readonly string[] | Problem
  /** A hash of everything that decides what would run. */
  hash(spec: WithPrograms, workspace: Workspace | undefined): string
  /** The programs that the hash covers. */
  programs?(spec: CheckSpec, workspace: Workspace | undefined): Check['programs']
  /** Whether a judge of ours rules on the claims of agents elsewhere. */
  judges?(): boolean
  /** What calls of turns in this workspace can do; by default the one that new turns of this process get. Undefined: none. */
  offered?(workspace?: Workspace): CallChecks | undefined
  /** Whether a workspace is a folder of this machine that does not exist any more. */
  isGone?(workspace: Workspace): boolean
  /** The workspace of turns that this process drives, where they have one of their own. */
  readonly own?: Workspace | undefined
}

/** Whether nobody can serve a need: its folder, of this machine, does not exist any more. A process that has it says more. */
export function isGone(checks: CheckMaker, need: Need): boolean {
  const workspace = workspaceIn(need)
  return workspace !== undefined && (checks.isGone?.(workspace) ?? false) && !checks.offered?.(workspace)
}

/** What an edge that has a workspace knows about checks. */
export interface CallChecks {
  readonly workspace: Workspace
  /** The checks that run once before a plan ends. */
  readonly done: readonly Check[]
  /** Command lines that a person may pick from. */
  readonly commands: readonly string[]
  /** A model's command line as a check, and whether the configuration allows it. */
  readonly fromLine: (line: string) => { readonly check: Check; readonly isAllowed: boolean } | Refusal
}

/** The part of a door that makes checks. */
interface Making {
  readonly checks: CheckMaker
  readonly newId: () => string
}

/**
 * A person's new task, with its checks as they are stored. Like all of these: throws the refusal if a check is invalid,
 * and takes no id and no hash from outside.
 */
export function preparedTask(state: Conversation, door: Making, id: string, sent: PersonsFields): NewTask {
  const { checks, check, approve: _approve, ...fields } = sent
  const turn = state.turns.get(state.running_turn ?? state.latest_turn ?? '')
  return { ...fields, ...prepareChecks({ checks, check }, [], turn?.workspace, door).fields, id }
}

/** A person's change to a task. If it moves checks out of a folder that is gone, the others of the plan there move along. */
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

/** The approved checks of a task, made anew for another folder. */
function movedTo(workspace: Workspace, state: Conversation, task: Task, door: Making): readonly TaskChange[] {
  const moves = (check: Check): boolean => check.kind !== 'person' && isApproved(state, task.id, check)
  const checks = (task.checks ?? []).map(check =>
    moves(check) ? { ...madeCheck(specOf(check), door.newId(), door.checks, workspace), workspace } : check,
  )
  return task.checks?.some(moves) ? [{ task: task.id, fields: { checks } }] : []
}

/** A change to this task alone. */
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

/** Checks that were written anew say where they run. */
const placedIn = (workspace: Workspace, checks: readonly Check[], known: readonly Check[]): readonly Check[] =>
  checks.map(check => (check.kind === 'person' || known.includes(check) ? check : { ...check, workspace }))

/** The workspace of this process, in place of one whose folder is gone. */
const standIn = (workspace: Workspace | undefined, maker: CheckMaker): Workspace | undefined =>
  workspace && maker.isGone?.(workspace) ? maker.offered?.()?.workspace : undefined

/** Throws if a person asks for a run that no process can make: the folder of the check is gone. */
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

/** Those that are sent back, or still what they were: written again, a check is what it is now, say with another program. */
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

/** A decision on a review. */
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

/** The rows of a decision on this draft, or of a template. */
export function preparedRows(
  rows: readonly SentRow[],
  draft: readonly DraftRow[],
  workspace: Workspace | undefined,
  door: Making,
): readonly SubmittedRow[] {
  const proposed = draft.flatMap(({ checks = [] }) => checks)
  return rows.map((row, index) => {
    // Said by the domain.
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
  /** The hashes of those that came with the hash of another place, such as a template. */
  readonly inserted: readonly string[]
}

/**
 * The checks as they are stored. One that equals a known check is that check; any other gets an id and a hash here. What
 * was sent as id and hash only tells where a check was read.
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
  /** The hash that was sent to the one that counts. */
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

/** A new check, with what a person approves. */
export function madeCheck(spec: CheckSpec, id: string, maker: CheckMaker, workspace: Workspace | undefined): Check {
  const programs = maker.programs?.(spec, workspace)
  const found = programs ? { ...spec, programs } : spec
  return { ...found, id, hash: maker.hash(found, workspace) }
}

/** A check whose command may be a line. */
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

/** Until a composition says how checks run here. */
export const plainMaker: CheckMaker = {
  split: splitWords,
  hash: (spec, workspace) =>
    createHash('sha256')
      .update(JSON.stringify(sorted([specOf(spec), workspace ?? null])))
      .digest('hex'),
}
