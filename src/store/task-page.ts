import type { Conversation } from '../domain/conversation.ts'
import { tasksAt } from '../domain/plan.ts'
import type { Task, TaskStatus } from '../domain/task.ts'
import { sortedPage } from './cursor.ts'
import type { Page, Paged } from './store.ts'

/** Selects tasks; an absent field matches everything. */
export interface TaskFilter {
  /** Only tasks that the turn with this id worked from. */
  readonly turn?: string | undefined
  readonly status?: TaskStatus | undefined
}

/** A page of a conversation's listed tasks, in list order. */
export function taskPage(state: Conversation, { turn, status }: TaskFilter, page: Page): Paged<Task> {
  const tasks = turn === undefined ? [...state.tasks.values()] : tasksAt(state, turn)
  const wanted = tasks.filter(task => status === undefined || task.status === status)
  return sortedPage(wanted, page, ['number', 'number'], ({ position, number }) => [position, number], 'ascending')
}
