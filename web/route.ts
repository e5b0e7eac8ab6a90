import { newSession } from './new-sessions.ts'

/** What the page shows, as in its URL: a conversation, or its history, with one task open. */
export interface Route {
  readonly session: string
  readonly isHistory: boolean
  readonly task: string | undefined
}

const ID = /^[A-Za-z0-9_-]{1,128}$/

/** The route in the URL; a new conversation where it names none. */
export function currentRoute(): Route {
  const query = new URLSearchParams(location.search)
  const session = query.get('chat') ?? ''
  const task = query.get('task') ?? ''
  if (ID.test(session)) {
    const hasTask = ID.test(task)
    return { session, isHistory: hasTask || query.get('view') === 'history', task: hasTask ? task : undefined }
  }
  const route = chatRoute(newSession())
  history.replaceState(null, '', urlOf(route))
  return route
}

export const chatRoute = (session: string): Route => ({ session, isHistory: false, task: undefined })
export const historyRoute = (session: string, task?: string): Route => ({ session, isHistory: true, task })

export function urlOf({ session, isHistory, task }: Route): string {
  const query = new URLSearchParams({ chat: session })
  if (task !== undefined) query.set('task', task)
  else if (isHistory) query.set('view', 'history')
  return `?${query}`
}
