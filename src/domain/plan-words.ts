import type { Instant } from './instant.ts'
import type { Standing } from './standing.ts'
import type { TaskStatus } from './task.ts'

// The words of documents that people keep or paste elsewhere: receipts and exported conversations.

export const STANDING_WORDS: Record<Standing, string> = {
  proven: 'proven',
  confirmed: 'confirmed by a person',
  judged: 'judged',
  reported: "on the agent's word",
}

export const STATUS_WORDS: Record<TaskStatus, string> = {
  pending: 'open',
  in_progress: 'open',
  completed: 'done',
  blocked: 'blocked',
  cancelled: 'cancelled',
}

/** "5 of 6 done: 3 proven, 2 judged". */
export function doneWords(done: number, of: number, standings: Readonly<Record<Standing, number>> | undefined): string {
  const parts = (Object.keys(STANDING_WORDS) as Standing[]).flatMap(standing => {
    const count = standings?.[standing] ?? 0
    return count > 0 ? `${count} ${STANDING_WORDS[standing]}` : []
  })
  return `${done} of ${of} done${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`
}

export const when = (at: Instant): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`

export const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`)
