import type { PlanTally, TurnEnd } from '../domain/thread.ts'
import type { Strings } from './strings.ts'

/** Failures that there are words for. */
export type FailureCode = keyof typeof SETTINGS

/** The environment variable that may be wrong, by the code of a failure. */
const SETTINGS = {
  provider_unreachable: 'RUNSHEET_MODEL_URL',
  provider_denied: 'RUNSHEET_MODEL_KEY',
  provider_refused: 'RUNSHEET_MODEL',
  provider_busy: '',
  provider_failed: '',
  model_unknown: 'RUNSHEET_MODEL',
  answer_too_long: '',
  empty_answer: '',
  internal_error: '',
} as const

/** What went wrong, and what to do about it. */
export function failureWords(code: string, { thread }: Strings): { readonly title: string; readonly hint: string } {
  if (!isKnown(code)) return { title: thread.failed, hint: '' }
  const [title, hint] = thread.failures[code]
  return { title, hint: hint(SETTINGS[code]) }
}

const isKnown = (code: string): code is FailureCode => Object.hasOwn(SETTINGS, code)

/** How a plan stands: "All 5 steps done · 3 proven", "3 done, 2 blocked". */
export function tallyWords({ total, done, blocked, open, standings }: PlanTally, strings: Strings): string {
  const { thread, checks } = strings
  const proven = standings?.proven ? [checks.standingCount.proven(standings.proven)] : []
  if (done === total) return [thread.allDone(total), ...proven].join(' · ')
  const parts = [
    done > 0 ? thread.done(done) : '',
    blocked > 0 ? strings.blocked(blocked) : '',
    open > 0 ? thread.left(open) : '',
  ]
  return [strings.timeline.list(parts.filter(part => part !== '')), ...proven].join(' · ')
}

/** How a turn ended, besides a failure; empty where there is nothing to say. */
export interface EndWords {
  /** What came of it. */
  readonly result: string
  /** Why it ended early. */
  readonly reason: string
}

export function endWords(
  { status, because = 'answered' }: TurnEnd,
  tally: PlanTally | undefined,
  strings: Strings,
): EndWords {
  const { thread } = strings
  const plan = tally ? tallyWords(tally, strings) : status === 'incomplete' ? thread.notFinished : ''
  const result = [status === 'stopped' ? thread.stopped : '', plan].filter(text => text !== '').join(' · ')
  const isDone = tally !== undefined && tally.done === tally.total
  return { result, reason: isDone ? '' : (thread.because[because] ?? '') }
}
