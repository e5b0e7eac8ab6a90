import { neverPassed } from '../proof/check-state.ts'
import type { CommandOf, ModelEdit, ReviewOrigin, Rules, TaskChange, TaskRemoval } from '../model/command.ts'
import { editedSince, openTasks, type Conversation } from '../model/conversation.ts'
import { disputantIn, isDisputed, isDisputedOut } from '../proof/dispute.ts'
import type { NewEvent } from '../model/event.ts'
import { cleanFields, type TaskFields } from '../model/fields.ts'
import { hasHidden } from '../proof/held-out.ts'
import { defined } from '../model/defined.ts'
import type { Instant } from '../model/instant.ts'
import { TOOLSETS, type Policy } from '../model/policy.ts'
import { Refusal, idIsTaken, inRow, invalidField, nameOf, type RefusalData } from '../model/refusal.ts'
import { claimOn, claimedPlans } from '../proof/claims.ts'
import { lastTurnOf, planById, planIdOf } from '../model/plan.ts'
import { proofOf, type OpenClaim } from '../proof/proof.ts'
import { ASKED, NEXT, REQUIRES, SEALED, isOpen, isSettled, type Task, type TaskStatus } from '../model/task.ts'
import { LIMITS, isId } from '../model/text.ts'
import { isRunning, type Turn } from '../model/turn.ts'
import { Claims, type AskedClaim } from './claims.ts'
import { approved, finalRunsAfter, planLook, runsWithScope } from './requests.ts'
import { reviewRequired } from './reviews.ts'
import { ListEditor, sourcesOf, type Draft } from './list-editor.ts'
import { changedBy } from './transition.ts'

export type TaskCommand = ModelEdit & {
  /** Creates, changes and removes, in this order, all or nothing. */
  readonly type: 'edit_tasks'
  readonly by: 'model' | 'person' | 'file'
  /** The model's turn. New tasks of a person or a file join the running or latest turn. */
  readonly turn_id?: string
  readonly order?: readonly string[]
  /** The seq that a model's call was based on. Default: the newest tool answer. */
  readonly basis?: number | undefined
  readonly review?: ReviewOrigin
}

export const TASK_RULES: Rules<TaskCommand> = { edit_tasks: editTasks }

type Edit = CommandOf<'edit_tasks'>

/** The turn for tasks read from a file before the conversation had a turn. */
const FILE_TURN = 'file'
const MAX_LISTED = 20

function editTasks(state: Conversation, command: Edit, now: Instant): readonly NewEvent[] | Refusal {
  const made = edited(state, command, now)
  if (made instanceof Refusal) return made
  const [claim] = made.open
  const created = made.events.flatMap(event => (event.type === 'task_created' ? event.data.task : []))
  const task = claim && (state.tasks.get(claim.task) ?? created.find(({ id }) => id === claim.task))
  return task ? new Refusal('not_checked', { task, reason: 'Its claim is not settled.' }) : made.events
}

/** An edit applied as if all its claims were granted. */
export interface Edited {
  readonly events: readonly NewEvent[]
  readonly open: readonly AskedClaim[]
  readonly last: readonly Task[]
}

export function edited(
  state: Conversation,
  command: Edit,
  now: Instant,
  ruled?: readonly OpenClaim[],
): Edited | Refusal {
  const asModel = command.by === 'model' ? modelTurn(state, command.turn_id, ruled !== undefined) : undefined
  if (asModel instanceof Refusal) return asModel
  const turnId = asModel?.turn.id ?? state.running_turn ?? state.latest_turn ?? undefined
  const opened = turnId === undefined && command.by === 'file'
  if (turnId === undefined && !opened && command.create?.length) return new Refusal('no_turn', {})

  const drafts = cleanDrafts(state, command)
  if (drafts instanceof Refusal) return drafts
  const targets = cleanTargets(state, command, asModel, ruled)
  if (targets instanceof Refusal) return targets
  const sent = [...drafts, ...targets.changes.map(({ fields }) => fields)]
  if (asModel && sent.some(({ checks }) => hasHidden(checks)))
    return new Refusal('persons_only', { action: 'hide_check' })
  const reviewed = asModel?.policy.review && drafts.length > 0
  const asked = reviewed ? reviewRequired(state, command, drafts, asModel.policy, now) : []
  if (asked instanceof Refusal) return asked

  const editor = new ListEditor(state, now, command.by, asModel ? asModel.turn.id : null)
  const judges = asModel !== undefined && isJudged(asModel, command)
  const claims = asModel
    ? new Claims(state, command, { isJudged: judges, endsPlan: !isRunning(asModel.turn), ruled })
    : undefined
  if (!reviewed) editor.create(claims?.asPending(drafts) ?? drafts, turnId ?? FILE_TURN)
  for (const [row, { task, fields, disputes }] of targets.changes.entries()) {
    // Includes this call's changes so far: reopening a task first must not bypass a rule.
    const current = editor.get(task.id) ?? task
    const refused =
      (asModel && disputedOut(current, fields, disputes, row)) ??
      claims?.add(current, fields, row) ??
      (asModel && forbidden(state, asModel, current, fields, row, judges)) ??
      (asModel && missingOutcome(asModel, current, fields, disputes, row)) ??
      (asModel && disputes
        ? editor.dispute(task.id, { reason: fields.outcome ?? '', by: disputantIn(asModel.turn) }, row)
        : editor.change(task.id, fields, row))
    if (refused) return refused
  }
  for (const task of targets.removals) editor.remove(task.id)
  if (command.order) editor.arrange(command.order)
  claims?.sign(editor)
  const events = editor.finish()
  if (events instanceof Refusal) return events
  const approvals = approvalsOf(state, command, reviewed ? [] : drafts, targets, turnId ?? FILE_TURN)
  if (approvals instanceof Refusal) return approvals
  const last = claims?.last(editor) ?? []
  const open = claims?.open(editor, last) ?? []
  const touched = [...targets.changes.map(({ task }) => task), ...targets.removals]
  // The call has waited for the runs of the plans that it claims.
  const waited = new Set(claimedPlans(state, ruled ?? []).map(({ id }) => id))
  const unasked = touched.filter(({ plan_id }) => !waited.has(plan_id))
  const final = finalRunsAfter(state, events, unasked, now)
  const look = drafts.length > 0 && !reviewed ? planLook(state, turnId ?? FILE_TURN) : []
  const begun: NewEvent[] =
    opened && events.length > 0
      ? [{ type: 'turn_opened', turn_id: FILE_TURN, data: { turn_id: FILE_TURN, plan_id: FILE_TURN } }]
      : []
  return { events: [...begun, ...events, ...approvals, ...asked, ...look, ...final], open, last }
}

/**
 * A person approves the checks that they write or name by hash. Of a model's checks, only those that the configuration
 * allows are approved.
 */
function approvalsOf(
  state: Conversation,
  { by, change = [] }: Edit,
  drafts: readonly Draft[],
  { changes }: Targets,
  turnId: string,
): NewEvent[] | Refusal {
  const created = drafts.flatMap(draft => {
    const checks = draft.checks ?? []
    if (by === 'person') return approved(state, draft, checks, 'edit', turnId)
    const allowed = checks.filter(({ hash }) => draft.allowed?.includes(hash))
    return approved(state, draft, allowed, 'configuration', turnId)
  })
  if (by !== 'person') return created
  const edited: NewEvent[] = []
  for (const [row, { task, fields }] of changes.entries()) {
    const { approve = [] } = change[row] ?? {}
    const checks = fields.checks ?? task.checks ?? []
    if (approve.some(hash => !checks.some(check => check.hash === hash))) {
      return invalidField('approve', { rule: 'invalid', expected: "hashes of the task's checks" }, row)
    }
    const isNew = (hash: string): boolean => !task.checks?.some(before => before.hash === hash)
    const chosen = checks.filter(({ hash }) => isNew(hash) || approve.includes(hash))
    edited.push(...approved(state, task, chosen, 'edit', lastTurnOf(planById(state, task.plan_id))))
    if (fields.scope) edited.push(...runsWithScope(state, task, fields.scope))
  }
  return [...created, ...edited]
}

export function findTask(state: Conversation, ref: string | number): Task | undefined {
  if (typeof ref === 'string') return state.tasks.get(ref)
  for (const id of state.open) {
    const task = state.tasks.get(id)
    if (task?.number === ref) return task
  }
  for (const task of state.tasks.values()) if (task.number === ref) return task
  return undefined
}

interface ModelTurn {
  readonly turn: Turn
  readonly policy: Policy
}

/** `isHeld`: the call was made before a turn of ours started. */
export function modelTurn(state: Conversation, turnId: string | undefined, isHeld = false): ModelTurn | Refusal {
  const turn = turnId === undefined ? undefined : state.turns.get(turnId)
  if (!turn || !state.policy) return new Refusal('turn_not_found', { turn_id: turnId ?? '' })
  if (isRunning(turn)) return { turn, policy: state.policy }
  if (turn.status !== 'open') return new Refusal('turn_finished', { turn_id: turn.id, status: turn.status })
  if (state.running_turn !== null && !isHeld) return turnRunning(state.running_turn)
  return { turn, policy: state.policy }
}

export const turnRunning = (turn_id: string): Refusal => new Refusal('turn_running', { turn_id })

export function taskInReach(
  state: Conversation,
  ref: string | number,
  asModel: ModelTurn | undefined,
  row?: number,
): Task | Refusal {
  const scope = scopeOf(asModel)
  const task = findTask(state, ref)
  const reached = task && (scope === undefined || task.plan_id === planIdOf(state, scope))
  return reached ? task : new Refusal('task_not_found', { ref, ...inRow(row), ...openIn(state, scope) })
}

const scopeOf = (asModel: ModelTurn | undefined): string | undefined =>
  asModel && TOOLSETS[asModel.policy.toolset].scope === 'turn' ? asModel.turn.id : undefined

export function openIn(state: Conversation, turnId?: string): Pick<RefusalData['task_not_found'], 'open' | 'more'> {
  const open = openTasks(state, turnId)
  return { open: open.slice(0, MAX_LISTED).map(nameOf), more: Math.max(0, open.length - MAX_LISTED) }
}

function cleanDrafts(state: Conversation, command: Edit): Draft[] | Refusal {
  const rows = command.create
  if (rows === undefined) return []
  if (command.by !== 'file') {
    if (rows.length === 0) return new Refusal('batch_empty', {})
    if (rows.length > LIMITS.batch) {
      return new Refusal('batch_too_large', { limit: LIMITS.batch, got: rows.length })
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
    if (!isId(id) || state.tasks.has(id) || drafts.some(other => other.id === id)) return idIsTaken('id', index)
    const { title } = fields
    if (title === undefined) return invalidField('title', { rule: 'empty' }, index)
    if (fields.status === 'cancelled') {
      return invalidField('status', { rule: 'not_allowed', allowed: NEW_STATUSES }, index)
    }
    if (fields.parent_id !== undefined && !state.tasks.has(fields.parent_id)) {
      const field = 'parent_id'
      return new Refusal('task_not_found', { row: index, field, ref: fields.parent_id, ...openIn(state) })
    }
    if (fields.status === 'in_progress') starting += 1
    const next = lastNumber + 1
    const numbered = command.by === 'file' ? numberFromFile(file_id, next) : { number: next }
    lastNumber = numbered.number
    const { allowed, asks_scope } = row
    drafts.push({ ...fields, ...defined({ allowed, asks_scope }), ...sources, ...numbered, title, id, created_by })
  }
  return starting > 1 ? new Refusal('two_in_progress', {}) : drafts
}

const NEW_STATUSES: readonly TaskStatus[] = ['pending', 'in_progress', 'completed', 'blocked']

/** A whole-number id of a file becomes the task's number if it is not used yet; any other id is kept as `file_id`. */
function numberFromFile(fileId: string | undefined, next: number): { number: number; file_id?: string } {
  const own = fileId !== undefined && /^[1-9]\d{0,8}$/.test(fileId) ? Number(fileId) : 0
  const number = Math.max(own, next)
  return fileId === undefined || fileId === String(number) ? { number } : { number, file_id: fileId }
}

interface Targets {
  readonly changes: readonly {
    readonly task: Task
    readonly fields: Partial<TaskFields>
    readonly disputes: boolean
  }[]
  readonly removals: readonly Task[]
}

function cleanTargets(
  state: Conversation,
  command: Edit,
  asModel: ModelTurn | undefined,
  ruled: readonly OpenClaim[] = [],
): Targets | Refusal {
  const changes: Targets['changes'][number][] = []
  for (const [row, change] of (command.change ?? []).entries()) {
    const task = target(state, command, change, asModel, row)
    if (task instanceof Refusal) return task
    const fields = cleanFields(change.fields, row)
    if (fields instanceof Refusal) return fields
    if (change.if_open && isSettled(task)) {
      const { status } = task
      return new Refusal('task_settled', { row, task, status, ...openIn(state, scopeOf(asModel)) })
    }
    const disputes = change.disputes === true
    changes.push({ task, fields: disputes ? { ...fields, status: 'blocked' } : fields, disputes })
  }
  const removals: Task[] = []
  for (const [row, removal] of (command.remove ?? []).entries()) {
    const task = target(state, command, removal, asModel, row)
    if (task instanceof Refusal) return task
    if (asModel && isDisputed(task)) return disputesSpent(task, row)
    const by = asModel && (turnedDownBy(state, task.id) ?? (neverPassed(state, task) ? 'approval' : undefined))
    if (by) return new Refusal('rejected_task_stays', { row, task, action: 'delete', by })
    const claim = asModel && claimOn(state, task.id)
    if (claim && !ruled.includes(claim)) return new Refusal('claim_open', { row, task })
    if (asModel && task.judged_by === 'person') return new Refusal('settled_by_person', { row, task })
    if (asModel?.policy.review) return new Refusal('reviewed_tasks_are_fixed', { row, action: 'delete' })
    removals.push(task)
  }
  return { changes, removals }
}

/** The task that a change names, unless it is out of reach or a newer edit fences the change. */
function target(
  state: Conversation,
  command: Edit,
  aim: TaskChange | TaskRemoval,
  asModel: ModelTurn | undefined,
  row: number,
): Task | Refusal {
  if (typeof aim !== 'object' || aim === null) return invalidField('row', { rule: 'not_an_object' }, row)
  const task = taskInReach(state, aim.task, asModel, row)
  if (task instanceof Refusal) return task
  if (aim.if_version !== undefined && aim.if_version !== task.version) {
    return new Refusal('version_mismatch', { row, task, expected: aim.if_version })
  }
  const changed = asModel && editedSince(state, task, command.basis ?? state.answered_seq)
  return changed ? new Refusal('edited_by_person', { row, task, changed }) : task
}

/**
 * Only a person reopens a task to which a person gave one of these statuses. A model may take up a task that a person
 * blocked.
 */
const REOPENED_BY_PERSON: ReadonlySet<TaskStatus> = new Set(['completed', 'cancelled'])

function forbidden(
  state: Conversation,
  { policy }: ModelTurn,
  task: Task,
  { status = task.status, ...fields }: Partial<TaskFields>,
  row: number,
  judges: boolean,
): Refusal | undefined {
  const changed = changedBy(task, fields)
  if (policy.review && [...changed].some(field => field !== 'outcome')) {
    return new Refusal('reviewed_tasks_are_fixed', { row, action: 'reword' })
  }
  const by = turnedDownBy(state, task.id)
  if (by && ASKED.some(field => changed.has(field))) {
    return new Refusal('rejected_task_stays', { row, task, action: 'reword', by })
  }
  if (by && !judges && status === 'cancelled' && NEXT[task.status].includes(status)) {
    return new Refusal('rejected_task_stays', { row, task, action: 'cancel', by })
  }
  if (task.judged_by !== 'person') return undefined
  if (REOPENED_BY_PERSON.has(task.status) && NEXT[task.status].includes(status))
    return new Refusal('settled_by_person', { row, field: 'status', task })
  // A new status needs its own outcome.
  const fixed = status === task.status ? SEALED : ASKED
  const field = fixed.find(each => changed.has(each))
  return field && new Refusal('settled_by_person', { row, field, task })
}

/** After its last dispute, an agent can neither move the task nor dispute it again. */
function disputedOut(
  task: Task,
  { status = task.status }: Partial<TaskFields>,
  disputes: boolean,
  row: number,
): Refusal | undefined {
  if (!isDisputedOut(task)) return undefined
  const isMoved = isDisputed(task) ? status !== task.status : disputes
  return isMoved ? disputesSpent(task, row) : undefined
}

const disputesSpent = (task: Task, row: number): Refusal =>
  new Refusal('disputes_spent', { row, task, times: task.dispute?.count ?? 0 })

function missingOutcome(
  { policy }: ModelTurn,
  task: Task,
  { status = task.status, outcome }: Partial<TaskFields>,
  disputes: boolean,
  row: number,
): Refusal | undefined {
  if (disputes)
    return outcome ? undefined : new Refusal('outcome_required', { row, field: 'outcome', task, to: 'disputed' })
  const isRequired = REQUIRES[status].outcome && (status !== task.status || outcome === '')
  // The outcome of a settled task belongs to its former status, not to the new one.
  const given = outcome ?? (isOpen(task) ? task.outcome : undefined)
  if (!isRequired || given || !TOOLSETS[policy.toolset].outcome) return undefined
  return new Refusal('outcome_required', { row, field: 'outcome', task, to: status })
}

/** True if the judge rules on completion: in our own runs, and elsewhere if a judge is configured. */
const isJudged = ({ turn, policy }: ModelTurn, { judges }: Edit): boolean =>
  policy.assessor && (isRunning(turn) || judges === true)

export function turnedDownBy(state: Conversation, taskId: string): 'checks' | 'assessor' | undefined {
  if (state.rejections.has(taskId)) return 'assessor'
  return proofOf(state, taskId).reds > 0 ? 'checks' : undefined
}
