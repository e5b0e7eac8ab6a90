import { storedToken } from './auth.ts'

/** Streams the log of a conversation from after one of its events. */
export async function readLog(session: string, after: number, signal: AbortSignal) {
  const response = await fetch(`/api/sessions/${encodeURIComponent(session)}/events`, {
    headers: {
      authorization: `Bearer ${storedToken() ?? ''}`,
      'last-event-id': String(after),
      accept: 'text/event-stream',
    },
    signal,
  })
  if (!response.ok || !response.body) throw new Error(`the log cannot be read: ${response.status}`)
  return response.body
}
