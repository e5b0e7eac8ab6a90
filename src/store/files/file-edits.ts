import type { CommandOf, NewTask, TaskChange, TaskRemoval } from '../../core/model/command.ts'
import { type Conversation, listed } from '../../core/model/conversation.ts'
import type { SomeFields } from '../../core/model/fields.ts'
import type { Task } from '../../core/model/task.ts'
import { FILE_STATUS, fileIdOf, type FileTask, type TaskDocument } from './document.ts'

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
