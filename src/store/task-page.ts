import type { Conversation } from '../domain/conversation.ts'
import type { Task, TaskStatus } from '../domain/task.ts'
import { sortedPage } from './cursor.ts'
import type { Page, Paged } from './store.ts'

/** A page of a conversation's listed tasks, in list order. */
export function taskPage(
  state: Conversation,
  filter: { readonly turn?: string | undefined; readonly status?: TaskStatus | undefined },
  page: Page,
): Paged<Task> {
  const { turn, status } = filter
  const tasks = [...state.tasks.values()].filter(
    task =>
      (turn === undefined || task.conversation_turn_id === turn) && (status === undefined || task.status === status),
  )
  return sortedPage(tasks, page, ['number', 'number'], ({ position, number }) => [position, number], 'ascending')
}
