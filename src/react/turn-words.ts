import type { PlanTally, TurnEnd } from '../domain/thread.ts'
import { tallyWords } from './tally-words.ts'
import type { AllStrings } from './use-thread-strings.ts'

/** Failures that there are words for. */
export type FailureCode =
  | 'provider_unreachable'
  | 'provider_denied'
  | 'provider_refused'
  | 'provider_busy'
  | 'provider_failed'
  | 'model_unknown'
  | 'model_changed'
  | 'answer_too_long'
  | 'context_too_long'
  | 'empty_answer'
  | 'internal_error'

/** The environment variable that may be wrong. */
const SETTINGS: Readonly<Partial<Record<FailureCode, string>>> = {
  provider_unreachable: 'RUNSHEET_MODEL_URL',
  provider_denied: 'RUNSHEET_MODEL_KEY',
  provider_refused: 'RUNSHEET_MODEL',
  model_unknown: 'RUNSHEET_MODEL',
  context_too_long: 'RUNSHEET_MODEL',
}

/** What went wrong, and what to do about it. */
export function failureWords(code: string, { thread }: AllStrings): FailureWords {
  const isKnown = (known: string): known is FailureCode => Object.hasOwn(thread.failures, known)
  if (!isKnown(code)) return { title: thread.failed, hint: '', isSetting: false }
  const [title, hint] = thread.failures[code]
  return { title, hint: hint(SETTINGS[code] ?? ''), isSetting: code in SETTINGS || code === 'model_changed' }
}

interface FailureWords {
  readonly title: string
  readonly hint: string
  /** Another setting may help. */
  readonly isSetting: boolean
}

/** How a turn ended, besides a failure; empty where there is nothing to say. */
export interface EndWords {
  /** What came of it. */
  readonly result: string
  /** Why it ended early. */
  readonly reason: string
}

export function endWords(
  { status, because = 'answered' }: Pick<TurnEnd, 'status' | 'because'>,
  tally: PlanTally | undefined,
  strings: AllStrings,
): EndWords {
  const { thread } = strings
  const plan = tally ? tallyWords(tally, strings) : status === 'incomplete' ? thread.notFinished : ''
  const result = [status === 'stopped' ? thread.stopped : '', plan].filter(text => text !== '').join(' · ')
  const isDone = tally !== undefined && tally.done === tally.total
  return { result, reason: isDone ? '' : (thread.because[because] ?? '') }
}
