import type { DisputeEnd } from '../proof/dispute.ts'
import type { Instant } from '../model/instant.ts'
import type { Standing } from '../proof/standing.ts'
import type { PlanTally } from './tally.ts'
import type { TaskStatus } from '../model/task.ts'

// The words of documents that people keep or paste elsewhere: receipts and exported conversations.

export const STANDING_WORDS: Record<Standing, string> = {
  proven: 'proven',
  confirmed: 'confirmed by a person',
  judged: 'judged',
  reported: "on the agent's word",
}

const STATUS_WORDS: Record<TaskStatus, string> = {
  pending: 'open',
  in_progress: 'open',
  completed: 'done',
  blocked: 'blocked',
  cancelled: 'cancelled',
}

export const statusWord = (status: TaskStatus, isDisputed: boolean): string =>
  isDisputed ? NOT_DONE_WORDS.disputed : STATUS_WORDS[status]

/** How a dispute ended, to be followed by its author. */
export const DISPUTE_ENDS: Record<DisputeEnd, string> = {
  changed: 'what it asks for was changed',
  settled: 'settled as it was',
  insisted: 'insisted on',
  withdrawn: 'withdrawn',
}

/** "5 of 8 done: 3 proven, 2 judged; 1 blocked, 2 cancelled". */
export function doneWords({ done, total, standings, ...counts }: PlanTally): string {
  const how = countWords(STANDING_WORDS, standings)
  const others = countWords(NOT_DONE_WORDS, counts)
  return `${done} of ${total} done${how && `: ${how}`}${others && `; ${others}`}`
}

export const NOT_DONE_WORDS = {
  disputed: 'disputed',
  blocked: STATUS_WORDS.blocked,
  cancelled: STATUS_WORDS.cancelled,
} as const

/** Lists the counts above zero: "3 proven, 2 judged". */
export const countWords = <K extends string>(
  words: Readonly<Record<K, string>>,
  counts: NoInfer<Readonly<Record<K, number>>> | undefined,
): string =>
  (Object.keys(words) as K[])
    .flatMap(each => (counts && counts[each] > 0 ? `${counts[each]} ${words[each]}` : []))
    .join(', ')

export const when = (at: Instant): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`

export const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`)
