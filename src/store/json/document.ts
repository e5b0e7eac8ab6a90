import { type Conversation, listed } from '../../domain/conversation.ts'
import type { Json } from '../../domain/event.ts'
import type { Task, TaskStatus } from '../../domain/task.ts'
import { LIMITS, line } from '../../domain/text.ts'
import { StoreError } from '../store-error.ts'

/** Fields that are another program's: kept, never looked at. */
export type Extra = Readonly<Record<string, Json>>

export interface FileTask {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly done: boolean
  readonly extra: Extra
}

/** What a conversation's JSON file says. */
export interface TaskDocument {
  readonly tasks: readonly FileTask[]
  readonly extra: Extra
}

export const EMPTY: TaskDocument = { tasks: [], extra: {} }

/** The file of a conversation: its id, or for a GUID the same without dashes in lower case. */
export function fileNameOf(conversation: string): string {
  const bare = conversation.replaceAll('-', '')
  const guid = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i.test(conversation)
  return `${guid ? bare.toLowerCase() : conversation}.json`
}

/** The id under which a task stands in the file. */
export const fileIdOf = (task: Task): string => task.file_id ?? String(task.number)

/** How a status looks from the file. */
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
    return [{ id, title: task.title, description: task.details, done: status === 'done', ...extras[id] }]
  })
  return `${JSON.stringify({ tasks, ...extra }, null, 2)}\n`
}

/** Anything but the shape that we know is refused whole: what is not understood must not be overwritten. */
export function parse(text: string): TaskDocument {
  const raw = parsed(text)
  if (!isObject(raw) || !Array.isArray(raw['tasks'])) throw invalid('the top level is no object with an array "tasks"')
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

/** The answer of every call of that conversation, word for word; what exactly is wrong goes to the log. */
export function invalid(detail: unknown): StoreError {
  return new StoreError('file_invalid', 'Task file is corrupt or invalid.', { cause: detail })
}

function fileTask(raw: unknown, index: number): FileTask {
  if (!isObject(raw)) throw invalid(`tasks[${index}] is no object`)
  const { id, title, description = '', done, ...extra } = raw
  // Kept to the letter, or not at all: an id that we would store in another form would not be found again.
  if (typeof id !== 'string' || line(id, LIMITS.reference) !== id)
    throw invalid(`tasks[${index}].id is no short line of text`)
  if (typeof title !== 'string') throw invalid(`tasks[${index}].title is no text`)
  if (typeof description !== 'string') throw invalid(`tasks[${index}].description is no text`)
  if (typeof done !== 'boolean') throw invalid(`tasks[${index}].done is neither true nor false`)
  return { id, title, description, done, extra: extra as Extra }
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text)
  } catch (error) {
    throw invalid(error)
  }
}

/** JSON whose numbers are written back as they were: 9007199254740993 and 1.0 are another program's business. */
export function parseExactly(text: string): unknown {
  const json = JSON as typeof JSON & { rawJSON: (source: string) => unknown }
  const keep = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? json.rawJSON(source) : value
  return JSON.parse(text, keep)
}

const isObject = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)
