import type { CommandOf, NewTask, TaskChange, TaskRemoval } from '../../domain/command.ts'
import { type Conversation, listed } from '../../domain/conversation.ts'
import type { SomeFields } from '../../domain/fields.ts'
import type { Task } from '../../domain/task.ts'
import { FILE_STATUS, fileIdOf, type FileTask, type TaskDocument } from './document.ts'

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
  const tasks = listed(state)
  const known = new Map(tasks.map(task => [fileIdOf(task), task]))
  const before = new Map(base.tasks.map(task => [task.id, task]))
  const now = new Set(file.tasks.map(task => task.id))
  const made = new Map(file.tasks.flatMap(row => (known.has(row.id) ? [] : [[row.id, newTask(row, newId())] as const])))
  const change = file.tasks.flatMap(row => edits(row, before.get(row.id), known.get(row.id)))
  const remove = base.tasks.flatMap((row): TaskRemoval[] => {
    const task = known.get(row.id)
    return task && !now.has(row.id) && FILE_STATUS[task.status] !== 'absent' ? [{ task: task.id }] : []
  })
  const create = [...made.values()]
  const wanted = file.tasks.flatMap(({ id }) => known.get(id)?.id ?? made.get(id)?.id ?? [])
  const standing = [...tasks.filter(task => now.has(fileIdOf(task))), ...create].map(({ id }) => id)
  const order = wanted.some((id, place) => id !== standing[place]) ? { order: wanted } : {}
  if (change.length + create.length + remove.length === 0 && !('order' in order)) return undefined
  return { type: 'edit_tasks', by: 'file', create, change, remove, ...order }
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
  // One that was not in the file and was written back into it is wanted again; then its `done` counts.
  const revived = FILE_STATUS[task.status] === 'absent' ? [to({ status: 'pending' })] : []
  if (row.done && (revived.length > 0 || !was.done)) return [...reworded, ...revived, to({ status: 'completed' })]
  const reopened = !row.done && was.done && task.status === 'completed' ? [to({ status: 'pending' })] : []
  return [...reworded, ...revived, ...reopened]
}

function newTask({ id: file_id, title, description: details, done }: FileTask, id: string): NewTask {
  return { id, file_id, title, details, status: done ? 'completed' : 'pending' }
}
