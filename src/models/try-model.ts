import { APICallError, generateText, type LanguageModel } from 'ai'
import type { Redactor } from '../core/text/redact.ts'
import { type Failure, failureOf } from '../engine/turn/failure.ts'
import { untilAborted } from '../engine/worker/silence.ts'

export interface TryOptions {
  readonly redact: Redactor
  readonly signal: AbortSignal
  readonly timeoutMs?: number
}

export interface FailedTry {
  readonly failure: Failure
  readonly url?: string
}

const TIMEOUT_MS = 15_000
/** Some providers reject a lower limit. The answer's content does not matter. */
const MAX_TOKENS = 16

/** Makes one small call without retries; returns why it failed. */
export async function tryModel(
  model: () => Promise<LanguageModel>,
  { redact, signal, timeoutMs = TIMEOUT_MS }: TryOptions,
): Promise<FailedTry | undefined> {
  const late = AbortSignal.timeout(timeoutMs)
  const abortSignal = AbortSignal.any([signal, late])
  try {
    const call = generateText({
      model: await model(),
      prompt: 'Answer with OK.',
      maxOutputTokens: MAX_TOKENS,
      maxRetries: 0,
      abortSignal,
    })
    await untilAborted(Promise.resolve(call), abortSignal)
    return undefined
  } catch (error) {
    const why = late.aborted ? new Error(`no answer within ${timeoutMs / 1_000} s`) : error
    return { failure: failureOf(why, redact), ...urlOf(why) }
  }
}

function urlOf(error: unknown): { url?: string } {
  const { origin, pathname } = (APICallError.isInstance(error) && URL.parse(error.url)) || { origin: '', pathname: '' }
  return origin === '' ? {} : { url: origin + pathname }
}
