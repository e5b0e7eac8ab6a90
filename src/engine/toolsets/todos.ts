import type { Json } from '../../core/model/event.ts'
import { isOpen, type Task, type TaskStatus } from '../../core/model/task.ts'

export type Todo = { readonly id: number; readonly description: string; readonly status: string }
export type TodosState = {
  readonly total: number
  readonly remaining: number
  readonly current: Todo | null
  readonly items: readonly Todo[]
}

const SHOWN: Record<Exclude<TaskStatus, 'cancelled'>, string> = {
  pending: 'pending',
  in_progress: 'current',
  completed: 'done',
  blocked: 'blocked',
}

/** The short form of a list. Cancelled tasks are neither shown nor counted. */
export function todosOf(tasks: readonly Task[], plan: string | null): TodosState {
  const shown = tasks.flatMap(task => (task.status === 'cancelled' ? [] : [{ task, todo: todoOf(task, task.status) }]))
  const started = shown.filter(({ task }) => task.status === 'in_progress')
  // Each plan may have a current task; this plan's comes first.
  const current = started.find(({ task }) => task.plan_id === plan) ?? started[0]
  return {
    total: shown.length,
    remaining: tasks.filter(isOpen).length,
    current: current?.todo ?? null,
    items: shown.map(({ todo }) => todo),
  } satisfies Json
}

function todoOf({ number, title }: Task, status: keyof typeof SHOWN): Todo {
  return { id: number, description: title, status: SHOWN[status] }
}
