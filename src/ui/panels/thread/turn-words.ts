import type { PlanTally } from '../../../core/views/tally.ts'
import type { TurnEnd } from '../../../core/views/thread.ts'
import type { EndReason } from '../../../core/model/turn.ts'
import { isDoneWith, tallyWords } from '../texts/tally-words.ts'
import type { ThreadStrings } from '../texts/strings.ts'
import type { AllStrings } from '../texts/use-thread-strings.ts'

type FailureCode = keyof ThreadStrings['failures']
/** Failures whose message quotes the provider or the connection error. */
type AnsweredFailure = keyof ThreadStrings['failureSays']

/** Messages are stored in English: known parts are extracted and translated, an unknown message is shown unchanged. */
export function failureText({ code, message }: TurnFailure, { thread }: AllStrings): string {
  const { failureSays: says, failureAnswer, modelChanged } = thread
  const [, before, now] = CHANGED.exec(message) ?? []
  if (code === 'model_changed' && before !== undefined && now !== undefined) return modelChanged(before, now)
  const { status = '', url = '', said } = ANSWERED.exec(message)?.groups ?? {}
  const isAnswered = (each: string): each is AnsweredFailure => Object.hasOwn(says, each)
  return isAnswered(code) && said !== undefined ? says[code] + failureAnswer(status, url, said) : message
}

type TurnFailure = NonNullable<TurnEnd['failure']>

const ANSWERED = /^The [^:(]*?(?: \((?<status>\d{3})\))?(?: at (?<url>https?:\/\/\S+?))?: (?<said>.+)$/s
const CHANGED = /: (\S+) is not reached any more .* (?:The model is now|Continue to go on with) (\S+)\.$/

/** The environment variable that may be wrong. */
const SETTINGS: Readonly<Partial<Record<FailureCode, string>>> = {
  provider_unreachable: 'RUNSHEET_MODEL_URL',
  provider_denied: 'RUNSHEET_MODEL_KEY',
  provider_refused: 'RUNSHEET_MODEL',
  model_unknown: 'RUNSHEET_MODEL',
  context_too_long: 'RUNSHEET_MODEL',
}

export function failureWords(code: string, { thread }: AllStrings): FailureWords {
  const isKnown = (known: string): known is FailureCode => Object.hasOwn(thread.failures, known)
  if (!isKnown(code)) return { title: thread.failed, hint: '', isSetting: false }
  const [title, hint] = thread.failures[code]
  return { title, hint: hint(SETTINGS[code] ?? ''), isSetting: code in SETTINGS || code === 'model_changed' }
}

interface FailureWords {
  readonly title: string
  readonly hint: string
  /** Changing a setting may help. */
  readonly isSetting: boolean
}

/** How a turn ended, apart from failures; empty strings are not shown. */
export interface EndWords {
  readonly result: string
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
  const isDone = tally !== undefined && isDoneWith(tally, status)
  const reasons: Readonly<Partial<Record<EndReason, string>>> = thread.because
  return { result, reason: isDone ? '' : (reasons[because] ?? '') }
}
