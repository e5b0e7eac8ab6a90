import type { CommandOf, NewTask, TaskChange, TaskRemoval } from '../../domain/command.ts'
import { type Conversation, listed } from '../../domain/conversation.ts'
import type { SomeFields } from '../../domain/fields.ts'
import type { Task } from '../../domain/task.ts'
import { fileIdOf, type FileTask, type TaskDocument } from './document.ts'

/**
 * What another program did to the file, as a command: the difference between what we wrote last (`base`) and what
 * stands there now. Nothing, if that is only about layout or fields that are not ours.
 */
export function takeIn(
  base: TaskDocument,
  file: TaskDocument,
  state: Conversation,
  newId: () => string,
): CommandOf<'edit_tasks'> | undefined {
  const known = new Map(listed(state).map(task => [fileIdOf(task), task]))
  const before = new Map(base.tasks.map(task => [task.id, task]))
  const now = new Set(file.tasks.map(task => task.id))
  const change = [
    ...file.tasks.flatMap(row => edits(row, before.get(row.id), known.get(row.id))),
    ...moves(base, file, known),
  ]
  const create = file.tasks.flatMap((row, index) =>
    known.has(row.id) ? [] : [newTask(row, file.tasks.slice(index + 1), known, newId())],
  )
  const remove = base.tasks.flatMap((row): TaskRemoval[] => {
    const task = known.get(row.id)
    return task && !now.has(row.id) && task.status !== 'cancelled' ? [{ task: task.id }] : []
  })
  if (change.length + create.length + remove.length === 0) return undefined
  return { type: 'edit_tasks', by: 'file', create, change, remove }
}

function edits(row: FileTask, before: FileTask | undefined, task: Task | undefined): TaskChange[] {
  if (!task) return []
  const was = before ?? { title: task.title, description: task.details, done: task.status === 'completed' }
  const wording: SomeFields = {
    ...(row.title === was.title ? {} : { title: row.title }),
    ...(row.description === was.description ? {} : { details: row.description }),
  }
  const to = (fields: SomeFields): TaskChange => ({ task: task.id, fields })
  const reworded = Object.keys(wording).length > 0 ? [to(wording)] : []
  // A cancelled one that somebody wrote back into the file is wanted again; then its `done` counts.
  const revived = task.status === 'cancelled' ? [to({ status: 'pending' })] : []
  if (row.done && (revived.length > 0 || !was.done)) return [...reworded, ...revived, to({ status: 'completed' })]
  const reopened = !row.done && was.done && task.status === 'completed' ? [to({ status: 'pending' })] : []
  return [...reworded, ...revived, ...reopened]
}

function newTask(row: FileTask, following: readonly FileTask[], known: ReadonlyMap<string, Task>, id: string): NewTask {
  const next = following.flatMap(other => known.get(other.id) ?? [])[0]
  const { title, description: details, done } = row
  const place = next ? { position: next.position } : {}
  return { id, file_id: row.id, title, details, status: done ? 'completed' : 'pending', ...place }
}

/** The moves that bring our order to the file's: each takes the place of the first one that is not yet right. */
function moves(base: TaskDocument, file: TaskDocument, known: ReadonlyMap<string, Task>): TaskChange[] {
  const shared = (rows: readonly FileTask[], others: readonly FileTask[]): string[] => {
    const ids = new Set(others.map(({ id }) => id))
    return rows.map(({ id }) => id).filter(id => ids.has(id) && known.has(id))
  }
  const list = shared(base.tasks, file.tasks)
  const moved: TaskChange[] = []
  for (const [index, id] of shared(file.tasks, base.tasks).entries()) {
    const standing = known.get(list[index] ?? '')
    const task = known.get(id)
    if (list[index] === id || !standing || !task) continue
    moved.push({ task: task.id, fields: { position: standing.position } })
    list.splice(list.indexOf(id), 1)
    list.splice(index, 0, id)
  }
  return moved
}
