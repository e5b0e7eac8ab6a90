import { Refusal } from '../domain/errors.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { Task } from '../domain/task.ts'

/** Runs on with what was decided; a refusal is the end of the call. */
export function must<T extends object | symbol>(outcome: T | Refusal): T {
  if (outcome instanceof Refusal) throw outcome
  return outcome
}

/** The same where some elements were dropped: the rules count those that were left, the model those that it sent. */
export function mustAsSent<T extends object | symbol>(outcome: T | Refusal, sent: readonly number[]): T {
  if (!(outcome instanceof Refusal)) return outcome
  const { row } = outcome.details
  const place = row === undefined ? undefined : sent[row]
  if (row === undefined || place === undefined) throw outcome
  const message = outcome.message.replace(`Element ${row}: `, `Element ${place}: `)
  throw new Refusal(outcome.code, message, { ...outcome.details, row: place })
}

/** The task that an edit of one was about, as it is now. */
export function changedTask(
  events: readonly StoredEvent[],
  before: Task,
  find: (id: string) => Task | undefined,
): Task {
  const removed = events.flatMap(event =>
    event.type === 'task_removed' && event.data.task.id === before.id ? [event.data.task] : [],
  )
  return removed[0] ?? find(before.id) ?? before
}

/** What exists already, for a model that is to try again. */
export function existing(tasks: readonly Task[], name: (task: Task) => string = task => task.title): string {
  return tasks.length === 0 ? 'nothing' : tasks.map(name).join('; ')
}
