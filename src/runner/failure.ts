import { APICallError } from 'ai'
import { cut } from '../domain/text.ts'

/** Why a turn failed: a code for programs, words for a person, and whether trying again may help. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly again: boolean
  readonly afterMs?: number
}

/** What a provider, or the way to it, did wrong. */
export function failureOf(error: unknown): Failure {
  if (APICallError.isInstance(error)) return answered(error)
  if (error instanceof UnknownModel) return { code: 'model_unknown', message: error.message, again: false }
  const message = error instanceof Error ? error.message : String(error)
  return { code: 'provider_unreachable', message: `The model could not be reached: ${short(message)}.`, again: true }
}

export class UnknownModel extends Error {
  override readonly name = 'UnknownModel'
}

function answered({ statusCode, message, responseHeaders, isRetryable }: APICallError): Failure {
  // One that began to answer and broke off has a good status.
  if (statusCode === undefined || statusCode < 400) {
    return { code: 'provider_unreachable', message: `The model could not be reached: ${short(message)}.`, again: true }
  }
  const after = waitFor(responseHeaders?.['retry-after'])
  if (statusCode === 429) {
    return {
      code: 'provider_busy',
      message: `The model's provider is busy (429): ${short(message)}.`,
      again: true,
      ...after,
    }
  }
  if (statusCode >= 500) {
    return {
      code: 'provider_failed',
      message: `The model's provider failed (${statusCode}): ${short(message)}.`,
      again: true,
      ...after,
    }
  }
  const code = statusCode === 401 || statusCode === 403 ? 'provider_denied' : 'provider_refused'
  return { code, message: `The model's provider refused (${statusCode}): ${short(message)}.`, again: isRetryable }
}

/** Seconds, or a date. */
function waitFor(retryAfter = ''): { afterMs?: number } {
  if (/^\d+(\.\d+)?$/.test(retryAfter)) return { afterMs: Number(retryAfter) * 1_000 }
  const ms = /[a-z]/i.test(retryAfter) ? Date.parse(retryAfter) - Date.now() : Number.NaN
  return Number.isFinite(ms) ? { afterMs: Math.max(0, ms) } : {}
}

const short = (message: string): string => cut(message.replaceAll(/\s+/g, ' '), 300).replace(/\.$/, '')
