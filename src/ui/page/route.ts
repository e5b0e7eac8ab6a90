import { useSyncExternalStore } from 'react'
import { randomId } from 'runsheet/client'

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
  // A fragment may hold the code of a link, which is read after this.
  history.replaceState(null, '', urlOf(route) + location.hash)
  return route
}

export const chatRoute = (session: string): Route => ({ session, isHistory: false, task: undefined })
export const messageRoute = (session: string, message: string): Route => ({ ...chatRoute(session), message })
export const historyRoute = (session: string, task?: string): Route => ({ session, isHistory: true, task })
export const REVIEWS: Route = chatRoute('')

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

const KEY = 'runsheet.new-sessions'
const MAX_KEPT = 20

/** Conversations started in this window that the server does not know yet, because they have no message. */
const sessions = new Set<string>(sessionStorage.getItem(KEY)?.split(' '))

export function newSession(): string {
  const id = `chat-${randomId()}`
  sessions.add(id)
  save()
  return id
}

export const isNewSession = (id: string): boolean => sessions.has(id)

export function markStarted(id: string): void {
  if (sessions.delete(id)) save()
}

const save = (): void => sessionStorage.setItem(KEY, [...sessions].slice(-MAX_KEPT).join(' '))

let route: Route | undefined
const listeners = new Set<() => void>()

function show(to: Route): void {
  route = to
  for (const listener of listeners) listener()
}
window.addEventListener('popstate', () => show(currentRoute()))

export const useRoute = (): Route =>
  useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => (route ??= currentRoute()),
  )

/** Opens a route; Back leaves it. */
export function go(to: Route): void {
  if (new URL(urlOf(to), location.href).href !== location.href) history.pushState(null, '', urlOf(to))
  show(to)
}

/** Replaces the current route, so that Back leaves the dialog and not only its page. */
export function goInPlace(to: Route): void {
  history.replaceState(null, '', urlOf(to))
  show(to)
}

export const openSettingsPage = (page: string): void => go({ ...currentRoute(), settings: page })
export const openSettings = (): void => openSettingsPage('')
export const openTools = (): void => go({ ...currentRoute(), isTools: true })

export function closeDialog(): void {
  const { settings: _settings, isTools: _isTools, ...rest } = currentRoute()
  goInPlace(rest)
}

let text = 'Runsheet'
let waiting = ''

export function showTitle(title: string | null): void {
  text = title === null ? 'Runsheet' : `${title} · Runsheet`
  update()
}

export function showWaiting(count: string): void {
  waiting = count
  update()
}

function update(): void {
  document.title = waiting === '' ? text : `(${waiting}) ${text}`
}
