import { APICallError } from 'ai'
import type { Redactor } from '../../core/text/redact.ts'
import { cut } from '../../core/model/text.ts'
import { AnswerTooLong, ModelChanged, UnknownModel } from './given-models.ts'

/** Why a turn failed: a code for programs, a message for people, and whether a retry may help. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly isRetryable: boolean
  readonly retryAfterMs?: number
}

/** Classifies an error of a provider or its connection. It may repeat what we sent, including our key. */
export function failureOf(error: unknown, redact: Redactor): Failure {
  const tooLong = tooLongIn(error)
  if (tooLong) return { code: 'answer_too_long', message: tooLong.message, isRetryable: false }
  // Redacts before shortening, because half a secret is not recognized.
  const short = (text: string): string => shortened(redact.error(text))
  if (APICallError.isInstance(error)) {
    return failedResponse(error, short(error.message), redact.error(placeOf(error.url)))
  }
  if (error instanceof UnknownModel) {
    const code = error instanceof ModelChanged ? 'model_changed' : 'model_unknown'
    return { code, message: redact.error(error.message), isRetryable: false }
  }
  const message = error instanceof Error ? error.message : String(error)
  return {
    code: 'provider_unreachable',
    message: `The model could not be reached: ${short(message)}.`,
    isRetryable: true,
  }
}

/** AI SDK wraps errors that occur while it reads a response. */
function tooLongIn(error: unknown): AnswerTooLong | undefined {
  if (error instanceof AnswerTooLong) return error
  return error instanceof Error && error.cause instanceof AnswerTooLong ? error.cause : undefined
}

function failedResponse(
  { statusCode, responseHeaders, responseBody = '', isRetryable }: APICallError,
  message: string,
  place: string,
): Failure {
  // A response that broke off has a success status.
  if (statusCode === undefined || statusCode < 400) {
    return {
      code: 'provider_unreachable',
      message: `The model could not be reached${place}: ${message}.`,
      isRetryable: true,
    }
  }
  const after = waitFor(responseHeaders?.['retry-after'])
  if (statusCode === 429) {
    return {
      code: 'provider_busy',
      message: `The model's provider is busy (429): ${message}.`,
      isRetryable: true,
      ...after,
    }
  }
  if (statusCode >= 500) {
    return {
      code: 'provider_failed',
      message: `The model's provider failed (${statusCode}): ${message}.`,
      isRetryable: true,
      ...after,
    }
  }
  if (TOO_LONG.test(`${message} ${responseBody}`)) {
    const text = `The conversation is too long for this model (${statusCode}): ${message}.`
    return { code: 'context_too_long', message: text, isRetryable: false }
  }
  const code = statusCode === 401 || statusCode === 403 ? 'provider_denied' : 'provider_refused'
  return { code, message: `The model's provider refused (${statusCode})${place}: ${message}.`, isRetryable }
}

/** Providers have no common code for a prompt that does not fit. */
const TOO_LONG =
  /context_length_exceeded|maximum context length|prompt is too long|exceeds? (?:the )?(?:maximum number of tokens|context (?:size|window|length)|available context)|too many tokens|input is too long/i

/** The requested URL without its query, which may contain a key. */
function placeOf(url: string): string {
  const { origin, pathname } = URL.parse(url) ?? { origin: '', pathname: '' }
  return origin === '' ? '' : ` at ${origin}${pathname}`
}

/** `Retry-After`: seconds or a date. */
function waitFor(retryAfter = ''): { retryAfterMs?: number } {
  if (/^\d+(\.\d+)?$/.test(retryAfter)) return { retryAfterMs: Number(retryAfter) * 1_000 }
  const ms = /[a-z]/i.test(retryAfter) ? Date.parse(retryAfter) - Date.now() : Number.NaN
  return Number.isFinite(ms) ? { retryAfterMs: Math.max(0, ms) } : {}
}

const shortened = (message: string): string => cut(message.replaceAll(/\s+/g, ' '), 300).replace(/\.$/, '')
