import { randomId } from 'runsheet/client'

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
