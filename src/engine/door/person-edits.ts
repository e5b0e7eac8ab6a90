import { type Conversation, listed } from '../../core/model/conversation.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { Task } from '../../core/model/task.ts'
import { taskOnWire } from '../../core/proof/proof-view.ts'
import type { PersonsFields, TaskAnswer } from '../../core/views/wire.ts'
import type { At } from '../../store/store.ts'
import { preparedChanges, preparedTask } from './checks.ts'
import type { Door, Ref } from './door.ts'

/** A person's changes to single tasks. A refusal names no row, because there is only one. */

export type NewTask = Omit<PersonsFields, 'approve'> & { readonly title: string }

/** Adds a task to the running or latest turn. */
export async function addTask(door: Door, at: At, fields: NewTask): Promise<TaskAnswer> {
  const id = door.newId()
  const { value } = await withoutRow(
    door.transact(at, transaction => {
      const create = [preparedTask(transaction.state, door, id, fields)]
      const events = transaction.mustRun({ type: 'edit_tasks', by: 'person', create })
      return { task: taskOnWire(transaction.state, touched(events)), seq: transaction.state.seq }
    }),
  )
  return value
}

export async function changeTask(
  door: Door,
  ref: Ref,
  task: string | number,
  fields: PersonsFields,
  version?: number,
): Promise<TaskAnswer> {
  const { conversation } = await withoutRow(
    door.transact(ref, transaction => {
      const change = preparedChanges(transaction.state, door, task, fields, version)
      transaction.mustRun({ type: 'edit_tasks', by: 'person', change })
    }),
  )
  return taskAnswer(conversation, task)
}

/** Answers with the removed task. Its history stays. */
export async function removeTask(door: Door, ref: Ref, task: string | number, version?: number): Promise<TaskAnswer> {
  const { value } = await withoutRow(
    door.transact(ref, transaction => {
      const before = transaction.state
      const remove = [{ task, if_version: version }]
      const events = transaction.mustRun({ type: 'edit_tasks', by: 'person', remove })
      return { task: taskOnWire(before, touched(events)), seq: transaction.state.seq }
    }),
  )
  return value
}

/** A task by id or number, as it was changed. */
export function taskAnswer(state: Conversation, task: string | number): TaskAnswer {
  const byId = typeof task === 'string' ? state.tasks.get(task) : undefined
  const found = byId ?? listed(state).find(({ number }) => number === task)
  if (!found) throw new TypeError('the changed task does not exist')
  return { task: taskOnWire(state, found), seq: state.seq }
}

/** Drops the row number from a refusal. */
export async function withoutRow<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof Refusal ? error.at(undefined) : error
  }
}

/** The task of a commit that created or removed one. */
function touched(events: readonly StoredEvent[]): Task {
  const event = events.findLast(({ type }) => type === 'task_created' || type === 'task_removed')
  if (!event || !('task' in event.data)) throw new TypeError('the commit does not contain the task')
  return event.data.task
}
