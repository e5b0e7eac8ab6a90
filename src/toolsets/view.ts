import { type Conversation, listed, openTasks } from '../domain/conversation.ts'
import { TOOLSETS } from '../domain/policy.ts'
import type { Task } from '../domain/task.ts'

/** What a toolset's words are about: a conversation as one turn sees it. */
export interface View {
  readonly state: Conversation
  readonly turnId: string
}

/** Whether this conversation's toolset counts the turn's plan or the whole list. */
function scopeOf({ state, turnId }: View): string | undefined {
  return state.policy && TOOLSETS[state.policy.toolset].counts === 'conversation' ? undefined : turnId
}

/** The tasks in the toolset's scope, in list order. */
export const tasksIn = (view: View): Task[] => listed(view.state, scopeOf(view))

export const openIn = (view: View): Task[] => openTasks(view.state, scopeOf(view))

/** The one to work on now: the current task, or the first that is open. */
export function nextIn(view: View): Task | undefined {
  const open = openIn(view)
  return open.find(task => task.status === 'in_progress') ?? open[0]
}

export const remainingIn = (view: View): number => openIn(view).length
