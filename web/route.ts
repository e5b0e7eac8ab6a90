import { newSession } from './new-sessions.ts'

/** What the page shows, as in its URL: a conversation, or one message of it; or its history, with one task open. */
export interface Route {
  readonly session: string
  readonly isHistory: boolean
  readonly task: string | undefined
  readonly message?: string
}

const ID = /^[A-Za-z0-9_-]{1,128}$/

/** The route in the URL; a new conversation where it names none. */
export function currentRoute(): Route {
  const query = new URLSearchParams(location.search)
  const session = query.get('chat') ?? ''
  const task = query.get('task') ?? ''
  const message = query.get('message') ?? ''
  if (ID.test(session)) {
    if (ID.test(message)) return messageRoute(session, message)
    const hasTask = ID.test(task)
    return { session, isHistory: hasTask || query.get('view') === 'history', task: hasTask ? task : undefined }
  }
  const route = chatRoute(newSession())
  history.replaceState(null, '', urlOf(route))
  return route
}

export const chatRoute = (session: string): Route => ({ session, isHistory: false, task: undefined })
export const messageRoute = (session: string, message: string): Route => ({ ...chatRoute(session), message })
export const historyRoute = (session: string, task?: string): Route => ({ session, isHistory: true, task })

export function urlOf({ session, isHistory, task, message }: Route): string {
  const query = new URLSearchParams({ chat: session })
  if (message !== undefined) query.set('message', message)
  if (task !== undefined) query.set('task', task)
  else if (isHistory) query.set('view', 'history')
  return `?${query}`
}
