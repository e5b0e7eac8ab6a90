import type { Conversation } from '../core/model/conversation.ts'
import { tasksAt } from '../core/model/plan.ts'
import type { Task, TaskStatus } from '../core/model/task.ts'
import { sortedPage } from './cursor.ts'
import type { Page, Paged } from './store.ts'

export interface TaskFilter {
  /** Only tasks of the plan that the turn with this id worked from. */
  readonly turn?: string | undefined
  readonly status?: TaskStatus | undefined
}

export function taskPage(state: Conversation, { turn, status }: TaskFilter, page: Page): Paged<Task> {
  const tasks = turn === undefined ? [...state.tasks.values()] : tasksAt(state, turn)
  const wanted = tasks.filter(task => status === undefined || task.status === status)
  return sortedPage(wanted, page, ['number', 'number'], ({ position, number }) => [position, number], 'ascending')
}
