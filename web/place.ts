import { newSession } from './fresh.ts'

/** Where the page is, as its address says it: a conversation, or its history, open at a task. */
export interface Place {
  readonly session: string
  readonly isHistory: boolean
  readonly task: string | undefined
}

const ID = /^[A-Za-z0-9_-]{1,128}$/

/** A new conversation where the address names none. */
export function placeInAddress(): Place {
  const query = new URLSearchParams(location.search)
  const named = query.get('chat') ?? ''
  const task = query.get('task') ?? ''
  if (ID.test(named)) {
    const isTask = ID.test(task)
    return { session: named, isHistory: isTask || query.get('view') === 'history', task: isTask ? task : undefined }
  }
  const place = chatOf(newSession())
  history.replaceState(null, '', addressOf(place))
  return place
}

export const chatOf = (session: string): Place => ({ session, isHistory: false, task: undefined })
export const historyOf = (session: string, task?: string): Place => ({ session, isHistory: true, task })

export function addressOf({ session, isHistory, task }: Place): string {
  const query = new URLSearchParams({ chat: session })
  if (task !== undefined) query.set('task', task)
  else if (isHistory) query.set('view', 'history')
  return `?${query}`
}
