import { APICallError } from 'ai'
import { describe, expect, it } from 'vitest'
import { redactor } from '../../core/text/redact.ts'
import { failureOf as classified } from './failure.ts'
import { UnknownModel } from './given-models.ts'

const failureOf = (error: unknown) => classified(error, redactor())

function refused(statusCode: number | undefined, message = 'No.', responseHeaders: Record<string, string> = {}) {
  return new APICallError({
    message,
    url: 'http://127.0.0.1/v1',
    requestBodyValues: {},
    responseHeaders,
    ...(statusCode === undefined ? {} : { statusCode }),
  })
}

describe('why a turn failed', () => {
  it.each([
    [undefined, 'provider_unreachable', true],
    [400, 'provider_refused', false],
    [401, 'provider_denied', false],
    [403, 'provider_denied', false],
    [404, 'provider_refused', false],
    [413, 'provider_refused', false],
    [422, 'provider_refused', false],
    [429, 'provider_busy', true],
    [500, 'provider_failed', true],
    [502, 'provider_failed', true],
    [503, 'provider_failed', true],
    [529, 'provider_failed', true],
  ] as const)('[TR15] %s is %s; retryable: %s', (status, code, isRetryable) => {
    expect(failureOf(refused(status))).toMatchObject({ code, isRetryable })
  })

  it.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    'prompt is too long: 210000 tokens > 200000 maximum',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    'the request exceeds the available context size, try increasing it',
  ])('[TR15] a prompt that does not fit is context_too_long: %s', message => {
    expect(failureOf(refused(400, message))).toMatchObject({ code: 'context_too_long', isRetryable: false })
  })

  it('[TR15] says which URL refused', () => {
    expect(failureOf(refused(401)).message).toBe("The model's provider refused (401) at http://127.0.0.1/v1: No.")
  })

  it('[TR15] is one line in plain words', () => {
    expect(failureOf(refused(500, 'upstream\n   is  down.')).message).toBe(
      "The model's provider failed (500): upstream is down.",
    )
    expect(failureOf(new TypeError('fetch failed')).message).toBe('The model could not be reached: fetch failed.')
    expect(failureOf('gone').message).toBe('The model could not be reached: gone.')
  })

  it.each([
    ['7', 7_000],
    ['0', 0],
    ['0.5', 500],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    ['-5', undefined],
  ])('[TR15] Retry-After %j is %s ms', (header, ms) => {
    for (const status of [429, 503]) {
      expect(failureOf(refused(status, 'No.', { 'retry-after': header })).retryAfterMs).toBe(ms)
    }
  })

  it('a model that is not configured is not tried again', () => {
    expect(failureOf(new UnknownModel('There is no model x.'))).toEqual({
      code: 'model_unknown',
      message: 'There is no model x.',
      isRetryable: false,
    })
  })

  it('[TR15] is short and never half a character, whatever the provider says', () => {
    for (const error of [
      refused(500, `a${'😀'.repeat(9_000)}`),
      new Error(`a${'😀'.repeat(9_000)}`),
      refused(400, '😀'.repeat(500)),
    ]) {
      const { message } = failureOf(error)
      expect(message.length).toBeLessThan(700)
      expect(message.isWellFormed()).toBe(true)
    }
  })
})
