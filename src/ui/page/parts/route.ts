import { newSession } from '../lists/new-sessions.ts'

export interface Route {
  /** Empty on the reviews page. */
  readonly session: string
  readonly isHistory: boolean
  readonly task: string | undefined
  readonly message?: string
  readonly settings?: string
  readonly isTools?: boolean
}

const ID = /^[A-Za-z0-9_-]{1,128}$/

/** Starts a new conversation if the URL names none. */
export function currentRoute(): Route {
  const query = new URLSearchParams(location.search)
  const session = query.get('chat') ?? ''
  const task = query.get('task') ?? ''
  const message = query.get('message') ?? ''
  const page = query.get('settings')
  const over = { ...(page === null ? {} : { settings: page }), ...(query.has('tools') ? { isTools: true } : {}) }
  if (location.pathname.endsWith('/reviews')) return { ...REVIEWS, ...over }
  if (ID.test(session)) {
    if (ID.test(message)) return { ...messageRoute(session, message), ...over }
    const hasTask = ID.test(task)
    const isHistory = hasTask || query.get('view') === 'history'
    return { session, isHistory, task: hasTask ? task : undefined, ...over }
  }
  const route = { ...chatRoute(newSession()), ...over }
  history.replaceState(null, '', urlOf(route))
  return route
}

export const chatRoute = (session: string): Route => ({ session, isHistory: false, task: undefined })
export const messageRoute = (session: string, message: string): Route => ({ ...chatRoute(session), message })
export const historyRoute = (session: string, task?: string): Route => ({ session, isHistory: true, task })
export const REVIEWS: Route = chatRoute('')

export const settingsRoute = (page = ''): Route => ({ ...currentRoute(), settings: page })

export function urlOf({ session, isHistory, task, message, settings, isTools }: Route): string {
  const query = new URLSearchParams(session && { chat: session })
  if (message !== undefined) query.set('message', message)
  if (task !== undefined) query.set('task', task)
  else if (isHistory) query.set('view', 'history')
  if (settings !== undefined) query.set('settings', settings)
  if (isTools) query.set('tools', '')
  // Not only a query: the reviews have their own path.
  return `${session ? './' : 'reviews'}${query.size > 0 ? `?${query}` : ''}`
}
