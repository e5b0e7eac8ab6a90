import type { CommandOf, TaskChange } from '../command.ts'
import { type Conversation, editedSince, openTasks, planTurnOf } from '../conversation.ts'
import { Refusal } from '../errors.ts'
import type { NewEvent } from '../event.ts'
import { cleanFields, invalidField, type TaskFields } from '../fields.ts'
import type { Instant } from '../instant.ts'
import { type Policy, TOOLSETS } from '../policy.ts'
import { ASKS, isOpen, isSettled, NEXT, type Task, type TaskStatus } from '../task.ts'
import { isId, LIMITS } from '../text.ts'
import { isRunning, type Turn } from '../turn.ts'
import { reviewRequired } from './reviews.ts'
import { sourcesOf } from './sources.ts'
import { type Draft, WorkingList } from './working.ts'

type Edit = CommandOf<'edit_tasks'>

/** The turn of tasks that only a file knows of: no agent has worked here yet. */
const FILE_TURN = 'file'

export function editTasks(state: Conversation, command: Edit, now: Instant): NewEvent[] | Refusal {
  const asModel = command.by === 'model' ? modelsTurn(state, command.turn_id) : undefined
  if (asModel instanceof Refusal) return asModel
  const turnId = asModel?.turn.id ?? state.running_turn ?? state.latest_turn ?? undefined
  const opened = turnId === undefined && command.by === 'file'
  if (turnId === undefined && !opened && command.create?.length) {
    return new Refusal('no_turn', 'There is no turn yet that a task could join: send a message first.')
  }

  const drafts = cleanDrafts(state, command)
  if (drafts instanceof Refusal) return drafts
  const targets = cleanTargets(state, command, asModel)
  if (targets instanceof Refusal) return targets
  const reviewed = asModel?.policy.review && drafts.length > 0
  const asked = reviewed ? reviewRequired(state, command, drafts, asModel.policy, now) : []
  if (asked instanceof Refusal) return asked

  const list = new WorkingList(state, now, command.by, asModel ? asModel.turn.id : null)
  // What a worker makes as done is made pending, and is then claimed like any other.
  const creatable =
    asModel && isJudged(asModel)
      ? drafts.map(draft => (draft.status === 'completed' ? { ...draft, status: 'pending' as const } : draft))
      : drafts
  if (!reviewed) list.create(creatable, turnId ?? FILE_TURN)
  for (const [row, { task, fields }] of targets.changes.entries()) {
    // As the call has left it so far: reopening a task first gets around nothing.
    const standing = list.get(task.id) ?? task
    const refused = (asModel && forbiddenToModel(asModel, standing, fields, row)) ?? list.change(task.id, fields, row)
    if (refused) return refused
  }
  for (const task of targets.removals) list.remove(task.id)
  if (command.order) list.arrange(command.order)
  const events = list.finish()
  if (events instanceof Refusal) return events
  if (!opened || events.length === 0) return [...events, ...asked]
  return [{ type: 'turn_opened', turn_id: FILE_TURN, data: { turn_id: FILE_TURN } }, ...events]
}

/** Whether a model's change would settle a task that only the assessor may settle: the run asks it first. */
export function isClaim(state: Conversation, turnId: string, change: TaskChange): boolean {
  const turn = state.turns.get(turnId)
  const task = findTask(state, change.task)
  if (!turn || !task || !state.policy) return false
  return isJudged({ turn, policy: state.policy }) && isGranted(task, change.fields.status)
}

/** A listed task by id or number. */
export function findTask(state: Conversation, ref: string | number): Task | undefined {
  if (typeof ref === 'string') return state.tasks.get(ref)
  for (const id of state.open) {
    const task = state.tasks.get(id)
    if (task?.number === ref) return task
  }
  for (const task of state.tasks.values()) if (task.number === ref) return task
  return undefined
}

export interface ModelsTurn {
  readonly turn: Turn
  readonly policy: Policy
}

/** The turn that a model speaks in, and the policy over it. */
export function modelsTurn(state: Conversation, turnId: string | undefined): ModelsTurn | Refusal {
  const turn = turnId === undefined ? undefined : state.turns.get(turnId)
  if (!turn || !state.policy)
    return new Refusal('turn_not_found', `There is no turn ${turnId ?? ''} in this conversation.`)
  if (isRunning(turn)) return { turn, policy: state.policy }
  if (turn.status !== 'open') return new Refusal('turn_finished', `Turn ${turn.id} is over (${turn.status}).`)
  if (state.running_turn !== null) return turnRunning(state.running_turn)
  return { turn, policy: state.policy }
}

export const turnRunning = (turnId: string): Refusal =>
  new Refusal('turn_running', `Turn ${turnId} is under way in this conversation; wait for its end or stop it.`)

/** A listed task by id or number, if a model whose toolset is scoped to its turn may reach it. */
export function taskInReach(
  state: Conversation,
  ref: string | number,
  asModel: ModelsTurn | undefined,
): Task | Refusal {
  const planOnly = asModel && TOOLSETS[asModel.policy.toolset].scope === 'turn' ? asModel.turn.id : undefined
  const task = findTask(state, ref)
  const reached = task && (planOnly === undefined || planTurnOf(state, task) === planOnly)
  return reached ? task : notFound(state, ref, planOnly)
}

function notFound(state: Conversation, ref: string | number, turnId?: string): Refusal {
  const open = openTasks(state, turnId)
  const shown = open.slice(0, 20).map(task => task.number)
  const more = open.length > shown.length ? ` and ${open.length - shown.length} more` : ''
  return new Refusal(
    'task_not_found',
    `No task ${ref}. Open: ${shown.length === 0 ? 'none' : shown.join(', ')}${more}.`,
  )
}

function cleanDrafts(state: Conversation, command: Edit): Draft[] | Refusal {
  const rows = command.create
  if (rows === undefined) return []
  if (command.by !== 'file') {
    if (rows.length === 0) return new Refusal('batch_empty', 'A batch needs at least 1 task.')
    if (rows.length > LIMITS.batch) {
      return new Refusal('batch_too_large', `A batch holds at most ${LIMITS.batch} tasks, got ${rows.length}.`)
    }
  }
  const sources = sourcesOf(command)
  if (sources instanceof Refusal) return sources
  const created_by = ({ model: 'tool', person: 'user', file: 'file' } as const)[command.by]
  const drafts: Draft[] = []
  let starting = 0
  let lastNumber = state.last_number
  for (const [index, row] of rows.entries()) {
    const cleaned = cleanFields(row, index)
    if (cleaned instanceof Refusal) return cleaned
    const { file_id, ...fields } = cleaned
    const { id } = row
    if (!isId(id) || state.tasks.has(id) || drafts.some(other => other.id === id)) {
      return new Refusal('invalid_id', `Element ${index}: a new task needs an id of its own.`, {
        row: index,
        field: 'id',
      })
    }
    const { title } = fields
    if (title === undefined) return invalidField('title', 'must not be empty', index)
    if (fields.status === 'cancelled') return invalidField('status', 'of a new task cannot be cancelled', index)
    if (fields.parent_id !== undefined && !state.tasks.has(fields.parent_id)) {
      return new Refusal('task_not_found', `Element ${index}: no task ${fields.parent_id} to hang it under.`, {
        row: index,
        field: 'parent_id',
      })
    }
    if (fields.status === 'in_progress') starting += 1
    const next = freeNumber(state, lastNumber)
    const identity = command.by === 'file' ? fileIdentity(file_id, next) : { number: next }
    lastNumber = identity.number
    drafts.push({ ...fields, ...sources, ...identity, title, id, created_by })
  }
  if (starting > 1) return new Refusal('two_in_progress', `Only one new task can be in progress, got ${starting}.`)
  return drafts
}

/** A file's own counting goes on as ours, so that a task has one number everywhere; but no number is used twice. */
function fileIdentity(fileId: string | undefined, next: number): { number: number; file_id?: string } {
  const own = fileId !== undefined && /^[1-9]\d{0,8}$/.test(fileId) ? Number(fileId) : 0
  const number = Math.max(own, next)
  return fileId === undefined || fileId === String(number) ? { number } : { number, file_id: fileId }
}

/** The next number, unless a file calls another task so: that can only be one beyond those that we take over. */
function freeNumber(state: Conversation, last: number): number {
  let number = last + 1
  if (number < 1_000_000_000) return number
  const taken = new Set([...state.tasks.values()].map(task => task.file_id))
  while (taken.has(String(number))) number += 1
  return number
}

interface Targets {
  readonly changes: readonly { readonly task: Task; readonly fields: Partial<TaskFields> }[]
  readonly removals: readonly Task[]
}

function cleanTargets(state: Conversation, command: Edit, asModel: ModelsTurn | undefined): Targets | Refusal {
  const changes: { task: Task; fields: Partial<TaskFields> }[] = []
  for (const [row, change] of (command.change ?? []).entries()) {
    const task = target(state, command, change, asModel, row)
    if (task instanceof Refusal) return task
    const fields = cleanFields(change.fields, row)
    if (fields instanceof Refusal) return fields
    if (change.if_open && isSettled(task)) {
      return new Refusal('task_settled', `Task ${task.number} is already ${task.status}.`, { row }, task)
    }
    changes.push({ task, fields })
  }
  const removals: Task[] = []
  for (const [row, removal] of (command.remove ?? []).entries()) {
    const task = target(state, command, removal, asModel, row)
    if (task instanceof Refusal) return task
    if (asModel && isJudged(asModel) && (state.rejections.get(task.id) ?? 0) > 0) {
      const message = `Task ${task.number} was turned down by the assessor: it can be done, or cancelled for a good reason, not deleted.`
      return new Refusal('assessment_required', message, { row }, task)
    }
    if (asModel?.policy.review)
      return fixed(row, 'Deleting', 'Cancel it with an outcome, where your tools can, or leave it to the person')
    removals.push(task)
  }
  return { changes, removals }
}

/** The task that is meant, if it is within reach and nobody changed it behind the caller's back. */
function target(
  state: Conversation,
  command: Edit,
  aim: { readonly task: string | number; readonly if_version?: number | undefined },
  asModel: ModelsTurn | undefined,
  row: number,
): Task | Refusal {
  if (typeof aim !== 'object' || aim === null) return invalidField('row', 'must be an object', row)
  const task = taskInReach(state, aim.task, asModel)
  if (task instanceof Refusal) return new Refusal(task.code, task.message, { row })
  if (aim.if_version !== undefined && aim.if_version !== task.version) {
    return new Refusal(
      'version_mismatch',
      `Task ${task.number} is at version ${task.version}, not ${aim.if_version}.`,
      {
        row,
        task,
      },
    )
  }
  const changed = asModel && editedSince(state, task, command.basis ?? state.answered_seq)
  return changed ? editedByPerson(task, changed, row) : task
}

function forbiddenToModel(
  asModel: ModelsTurn,
  task: Task,
  fields: Partial<TaskFields>,
  row: number,
): Refusal | undefined {
  const { status, outcome: _outcome, ...wording } = fields
  if (asModel.policy.review && Object.keys(wording).length > 0) {
    return fixed(row, 'Rewording', 'Propose the new wording as a new plan')
  }
  const owing = outcomeOwed(asModel.policy, task, fields, row)
  if (owing) return owing
  if (isJudged(asModel) && isGranted(task, status)) {
    const message = `Task ${task.number} is ${status} only when the assessor says so.`
    return new Refusal('assessment_required', message, { row }, task)
  }
  return undefined
}

/** What a model owes for a status: an outcome, unless its tools have no place for one. */
export function outcomeOwed(
  policy: Policy,
  task: Task,
  { status, outcome }: Pick<Partial<TaskFields>, 'status' | 'outcome'>,
  row?: number,
): Refusal | undefined {
  const owes = status !== undefined && status !== task.status && ASKS[status].outcome
  // That of a settled task tells how it ended then, not how it ends now.
  const told = outcome ?? (isOpen(task) ? task.outcome : undefined)
  if (!owes || told || !TOOLSETS[policy.toolset].outcome) return undefined
  const ask = status === 'completed' ? 'what was done' : 'what is in the way'
  const message = `Task ${task.number} needs an outcome to be ${status}: say ${ask}.`
  return new Refusal('outcome_required', message, { ...(row === undefined ? {} : { row }), field: 'outcome' }, task)
}

/** Whether somebody else than the worker says what is done. */
const isJudged = ({ turn, policy }: ModelsTurn): boolean => isRunning(turn) && policy.assessor

/** Whether a status is one that the assessor grants, where the task may take it at all. */
const isGranted = (task: Task, status: TaskStatus | undefined): boolean =>
  status !== undefined && ASKS[status].judge && NEXT[task.status].includes(status)

export function editedByPerson(task: Task, changed: Readonly<Record<string, unknown>>, row?: number): Refusal {
  const now = Object.entries(changed).map(([field, value]) => `${field} is now ${JSON.stringify(value)}`)
  return new Refusal(
    'edited_by_person',
    `A person changed task ${task.number} since you last saw it: ${now.join(', ')}. Nothing was written; go on from this.`,
    { ...(row === undefined ? {} : { row }), task, changed },
  )
}

const fixed = (row: number, what: string, instead: string): Refusal =>
  new Refusal('reviewed_tasks_are_fixed', `${what} a task that a person reviewed is not possible. ${instead}.`, { row })
