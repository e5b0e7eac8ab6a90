import { setTimeout as delay } from 'node:timers/promises'
import type { Redactor } from '../../core/text/redact.ts'
import { failureOf, type Failure } from '../turn/failure.ts'
import { UnknownModel } from '../turn/given-models.ts'

/** Attempts at one model call, the first included. */
const MAX_TRIES = 3
const MAX_BACKOFF_MS = 30_000

export class ModelCallFailed extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

export interface RetryOptions {
  readonly backoffMs: number
  readonly signal: AbortSignal
  /** Awaited before each attempt; a throw prevents it. */
  readonly before: () => Promise<void>
  readonly redact: Redactor
}

/** Retries transient failures with exponential backoff, or after `Retry-After`. */
export async function withRetries<T>(
  work: () => Promise<T>,
  { backoffMs, signal, before, redact }: RetryOptions,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    await before()
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || error instanceof UnknownModel) throw error
      const failure = failureOf(error, redact)
      if (tries >= MAX_TRIES || !failure.isRetryable) throw new ModelCallFailed(failure)
      await delay(Math.min(MAX_BACKOFF_MS, failure.retryAfterMs ?? backoffMs * 2 ** (tries - 1)), undefined, { signal })
    }
  }
}
