import { afterEach, describe, expect, it } from 'vitest'
import { startTurns, type TestTurns } from '../../test/support/turns.ts'
import { UnknownModel } from './model-errors.ts'
import type { Models } from './given-models.ts'

let server: TestTurns | undefined
afterEach(() => server?.close())

/** Models that cannot be used. */
function failing(error: () => Error): Models & { readonly asked: () => number } {
  let asked = 0
  const fail = (): never => {
    asked += 1
    throw error()
  }
  return {
    names: ['old'],
    defaultName: 'old',
    named: fail,
    providerOf: () => undefined,
    assessorFor: fail,
    asked: () => asked,
  }
}

describe('the runner', () => {
  it('[TR16] a turn whose model is no longer configured fails, in plain words', async () => {
    server = await startTurns({ models: failing(() => new UnknownModel('The model old is not configured here.')) })
    const reader = await server.chat()
    expect(reader.of('turn_failed')[0]?.data).toMatchObject({ code: 'model_unknown' })
    expect(reader.of('turn_finished')[0]?.data.status).toBe('failed')
    expect(reader.of('message_added').at(-1)?.data.text).toBe('The model old is not configured here.')
  })
})
