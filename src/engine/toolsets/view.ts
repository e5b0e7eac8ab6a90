import { type Conversation, listed, openTasks } from '../../core/model/conversation.ts'
import { isIdle } from '../../core/decide/turns.ts'
import { captures, TOOLSETS } from '../../core/model/policy.ts'
import type { Task } from '../../core/model/task.ts'
import { cut } from '../../core/model/text.ts'

export interface View {
  readonly state: Conversation
  readonly turnId: string
  /** A read must see what a settling call would continue with (PL7). */
  readonly reads?: boolean
}

/** The turn whose plan `remaining` counts, or undefined for the whole list. */
function scopeOf({ state, turnId }: View): string | undefined {
  return captures(state.policy) ? undefined : turnId
}

export const tasksIn = (view: View): Task[] => listed(view.state, scopeOf(view))

export function openIn(view: View): Task[] {
  const { state, turnId, reads = false } = view
  const goesOn = reads && state.policy && TOOLSETS[state.policy.toolset].scope === 'conversation'
  return openTasks(state, goesOn && state.running_turn !== turnId && isIdle(state, turnId) ? undefined : scopeOf(view))
}

export function nextIn(view: View): Task | undefined {
  const open = openIn(view)
  return open.find(task => task.status === 'in_progress') ?? open[0]
}

export const remainingIn = (view: View): number => openIn(view).length

/** Enough for a plan; the retry text is part of the next prompt. */
const MAX_EXISTING = 40
const MAX_TITLE = 200

/**
 * The end of a retry text: the existing tasks by name, the newest if there are many, and what not to repeat. Empty if
 * there are none.
 */
export function existing(
  where: string,
  tasks: readonly Task[],
  advice: string,
  idOf?: (task: Task) => string | number,
): string {
  if (tasks.length === 0) return ''
  const names = tasks.slice(-MAX_EXISTING).map(task => {
    const title = cut(task.title, MAX_TITLE)
    return idOf ? `${idOf(task)} ${title}` : title
  })
  const more = tasks.length - names.length
  return ` ${where}: ${names.join('; ')}${more > 0 ? ` and ${more} more` : ''}. ${advice}`
}
