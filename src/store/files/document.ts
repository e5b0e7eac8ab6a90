import { listed, type Conversation } from '../../core/model/conversation.ts'
import type { Json } from '../../core/model/event.ts'
import { isHidden } from '../../core/proof/held-out.ts'
import type { Task, TaskStatus } from '../../core/model/task.ts'
import { LIMITS, line } from '../../core/model/text.ts'
import { StoreError } from '../store-error.ts'
import type { CommandOf, NewTask, TaskChange, TaskRemoval } from '../../core/model/command.ts'
import type { SomeFields } from '../../core/model/fields.ts'

/** Fields of other programs: preserved, never read. */
export type Extra = Readonly<Record<string, Json>>

export interface FileTask {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly done: boolean
  readonly extra: Extra
}

export interface TaskDocument {
  readonly tasks: readonly FileTask[]
  readonly extra: Extra
}

export const EMPTY: TaskDocument = { tasks: [], extra: {} }

/** A conversation's file name: its id. GUIDs become lower case without dashes. */
export function fileNameOf(conversation: string): string {
  const bare = conversation.replaceAll('-', '')
  const guid = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i.test(conversation)
  return `${guid ? bare.toLowerCase() : conversation}.json`
}

export const fileIdOf = (task: Task): string => task.file_id ?? String(task.number)

export const FILE_STATUS: Record<TaskStatus, 'open' | 'done' | 'absent'> = {
  pending: 'open',
  in_progress: 'open',
  blocked: 'open',
  completed: 'done',
  cancelled: 'absent',
}

export function render(state: Conversation, extra: Extra, extras: Readonly<Record<string, Extra>>): string {
  const tasks = listed(state).flatMap(task => {
    const id = fileIdOf(task)
    const status = FILE_STATUS[task.status]
    if (status === 'absent') return []
    // The file often lies where agents work.
    const checks = task.checks ? { checks: task.checks.filter(check => !isHidden(check)) } : {}
    return [{ id, title: task.title, description: task.details, done: status === 'done', ...extras[id], ...checks }]
  })
  return `${JSON.stringify({ tasks, ...extra }, null, 2)}\n`
}

/** Refuses any other shape as a whole, because a file that we cannot parse must not be overwritten. */
export function parse(text: string): TaskDocument {
  const raw = parsed(text)
  if (!isObject(raw) || !Array.isArray(raw['tasks']))
    throw invalid('the top level is not an object with an array "tasks"')
  const { tasks, ...extra } = raw
  const ids = new Set<string>()
  const rows = (tasks as unknown[]).map((task, index) => {
    const row = fileTask(task, index)
    if (ids.has(row.id)) throw invalid(`two tasks have the id ${JSON.stringify(row.id)}`)
    ids.add(row.id)
    return row
  })
  return { tasks: rows, extra: extra as Extra }
}

export function invalid(detail: unknown, file?: string): StoreError {
  return new StoreError('file_invalid', 'Task file is corrupt or invalid.', {
    cause: detail,
    ...(file ? { file } : {}),
  })
}

function fileTask(raw: unknown, index: number): FileTask {
  if (!isObject(raw)) throw invalid(`tasks[${index}] is not an object`)
  const { id: rawId, title, description: rawDescription, done: rawDone, ...extra } = raw
  const [id, description, done] = [
    Number.isSafeInteger(rawId) ? String(rawId) : rawId,
    rawDescription ?? '',
    rawDone ?? false,
  ]
  // Accept only ids that we would store unchanged; others could not be matched again.
  if (typeof id !== 'string' || line(id, LIMITS.reference) !== id)
    throw invalid(`tasks[${index}].id is not a short line of text`)
  if (typeof title !== 'string') throw invalid(`tasks[${index}].title is not a string`)
  if (typeof description !== 'string') throw invalid(`tasks[${index}].description is not a string`)
  if (typeof done !== 'boolean') throw invalid(`tasks[${index}].done is not a boolean`)
  return { id, title, description, done, extra: withoutChecks(extra as Extra) }
}

/** Checks are written for other programs and never read back. */
function withoutChecks(extra: Extra): Extra {
  const { checks, ...rest } = extra
  return isOurs(checks) ? rest : extra
}

const isOurs = (checks: Json | undefined): boolean =>
  Array.isArray(checks) && checks.every(check => isObject(check) && 'kind' in check && 'hash' in check)

function parsed(text: string): unknown {
  try {
    return parseExactly(text)
  } catch (error) {
    throw invalid(error)
  }
}

/** Parses JSON so that numbers are written back exactly: 9007199254740993, 1.0. */
export function parseExactly(text: string): unknown {
  const json = JSON as typeof JSON & { rawJSON: (source: string) => unknown }
  const keep = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? json.rawJSON(source) : value
  return JSON.parse(text, keep)
}

const isObject = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)

/**
 * Turns another program's edits into a command: the difference between `base`, which it started from, and the file now.
 * Own changes that are in the state but not yet in `base` stay. Undefined if only layout or foreign fields differ.
 */
export function fileEdits(
  base: TaskDocument,
  file: TaskDocument,
  state: Conversation,
  newId: () => string,
): CommandOf<'edit_tasks'> | undefined {
  const tasks = listed(state)
  const known = new Map(tasks.map(task => [fileIdOf(task), task]))
  const before = new Map(base.tasks.map(task => [task.id, task]))
  const now = new Set(file.tasks.map(task => task.id))
  const added = file.tasks.filter(({ id }) => !known.has(id) && !before.has(id))
  const made = new Map(added.map(row => [row.id, newTask(row, newId())]))
  const change = file.tasks.flatMap(row => edits(row, before.get(row.id), known.get(row.id)))
  const remove = base.tasks.flatMap((row): TaskRemoval[] => {
    const task = known.get(row.id)
    return task && !now.has(row.id) && FILE_STATUS[task.status] !== 'absent' ? [{ task: task.id }] : []
  })
  const create = [...made.values()]
  const idOf = (id: string): string | undefined => known.get(id)?.id ?? made.get(id)?.id
  const standing = tasks.filter(task => now.has(fileIdOf(task))).map(({ id }) => id)
  const wanted = isReordered(base, file)
    ? file.tasks.flatMap(({ id }) => idOf(id) ?? [])
    : withAdded(standing, file, made, idOf)
  const order = wanted.some((id, place) => id !== [...standing, ...create.map(({ id }) => id)][place])
    ? { order: wanted }
    : {}
  if (change.length + create.length + remove.length === 0 && !('order' in order)) return undefined
  return { type: 'edit_tasks', by: 'file', create, change, remove, ...order }
}

function isReordered(base: TaskDocument, file: TaskDocument): boolean {
  const shared = (rows: readonly FileTask[], others: readonly FileTask[]): string[] => {
    const ids = new Set(others.map(({ id }) => id))
    return rows.map(({ id }) => id).filter(id => ids.has(id))
  }
  const then = shared(base.tasks, file.tasks)
  return shared(file.tasks, base.tasks).some((id, place) => id !== then[place])
}

/** Our own order, with each new row after the one that it follows in the file. */
function withAdded(
  standing: readonly string[],
  file: TaskDocument,
  made: ReadonlyMap<string, NewTask>,
  idOf: (id: string) => string | undefined,
): string[] {
  const order = [...standing]
  for (const [place, { id }] of file.tasks.entries()) {
    const task = made.get(id)
    if (!task) continue
    const previous = file.tasks.slice(0, place).findLast(row => idOf(row.id) !== undefined)
    order.splice(previous ? order.indexOf(idOf(previous.id) ?? '') + 1 : 0, 0, task.id)
  }
  return order
}

function edits(row: FileTask, before: FileTask | undefined, task: Task | undefined): TaskChange[] {
  if (!task) return []
  const was = before ?? { title: task.title, description: task.details, done: FILE_STATUS[task.status] === 'done' }
  const wording: SomeFields = {
    ...(row.title === was.title ? {} : { title: row.title }),
    ...(row.description === was.description ? {} : { details: row.description }),
  }
  const to = (fields: SomeFields): TaskChange => ({ task: task.id, fields })
  const reworded = Object.keys(wording).length > 0 ? [to(wording)] : []
  // A task that was absent and is in the file again is reopened; only then does its `done` count.
  const absent = FILE_STATUS[task.status] === 'absent'
  const revived = absent && !before ? [to({ status: 'pending' })] : []
  if (absent && before) return reworded
  if (row.done && (revived.length > 0 || !was.done)) return [...reworded, ...revived, to({ status: 'completed' })]
  const reopened = !row.done && was.done && task.status === 'completed' ? [to({ status: 'pending' })] : []
  return [...reworded, ...revived, ...reopened]
}

function newTask({ id: file_id, title, description: details, done }: FileTask, id: string): NewTask {
  return { id, file_id, title, details, status: done ? 'completed' : 'pending' }
}
