import { listed, type Conversation } from '../../core/model/conversation.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { Task } from '../../core/model/task.ts'
import { taskOnWire } from '../../core/proof/standing.ts'
import type { InsistAnswer, PersonsFields, TaskAnswer } from '../../core/views/wire.ts'
import type { At } from '../../store/store.ts'
import { preparedChanges, preparedTask } from './checks.ts'
import type { Door, Ref } from './door.ts'
import { openIn } from '../../core/decide/tasks.ts'

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

const CHANGES = ['task_created', 'task_changed', 'task_removed'] as const

type Change = StoredEvent<(typeof CHANGES)[number]>

/**
 * Undoes the change that led to this version of a task, on a person's behalf, and returns the task afterwards, even if
 * it is now removed. The undo itself can be undone in the same way.
 */
export async function undoChange(door: Door, ref: Ref, task: string, version: number): Promise<TaskAnswer> {
  const changes = (await door.conversations.events(ref, { types: CHANGES, task })) as readonly Change[]
  if (changes.length === 0) throw new Refusal('task_not_found', { ref: task, ...openIn(await door.read(ref)) })
  const change = changes.find(({ data }) => data.task.version === version)
  if (!change) throw new Refusal('not_undoable', { because: 'unknown' })
  const { value } = await door.transact(ref, transaction => {
    const before = transaction.state
    const events = transaction.mustRun({ type: 'undo_change', change })
    const { state } = transaction
    const removed = events.flatMap(({ type, data }) =>
      type === 'task_removed' && data.task.id === task ? [data.task] : [],
    )
    // If the undo removed the task, show its checks from before.
    const [known, shown] = removed[0] ? [before, removed[0]] : [state, state.tasks.get(task)]
    if (!shown) throw new TypeError('the task is neither listed nor removed')
    return { task: taskOnWire(known, shown), seq: state.seq }
  })
  return value
}

/** Has a disputed task done as it is asked, on a person's behalf. */
export async function insist(
  door: Door,
  ref: Ref,
  task: string | number,
  comment: string | undefined,
): Promise<InsistAnswer> {
  const continuation = { turn_id: door.newId(), message_id: door.newId() }
  const { value } = await door.transact(ref, transaction => {
    const events = transaction.mustRun({ type: 'insist', task, comment, continuation })
    const { state } = transaction
    const [changed] = events.flatMap(({ type, data }) => (type === 'task_changed' ? data.task.id : []))
    const shown = state.tasks.get(changed ?? '')
    if (!shown) throw new TypeError('the task is not listed')
    const isContinued = events.some(({ type }) => type === 'turn_started')
    return {
      task: taskOnWire(state, shown),
      seq: state.seq,
      ...(isContinued ? { turn_id: continuation.turn_id } : {}),
    }
  })
  return value
}
