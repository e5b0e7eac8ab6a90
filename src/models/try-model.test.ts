import { MockLanguageModelV4 } from 'ai/test'
import { expect, it } from 'vitest'
import { redactor } from '../core/text/redact.ts'
import { UnknownModel } from '../engine/turn/given-models.ts'
import { tryModel } from './try-model.ts'

const redact = redactor({ known: ['a-key-of-a-person'] })
const never = new AbortController().signal

/** A model that does not answer, and may ignore that its call was given up. */
const silent = new MockLanguageModelV4({ doGenerate: () => new Promise(() => {}) })

it('a model that does not answer is given up, and that is said', async () => {
  const failed = await tryModel(async () => silent, { redact, signal: never, timeoutMs: 20 })
  expect(failed?.failure).toMatchObject({
    code: 'provider_unreachable',
    message: 'The model could not be reached: no answer within 0.02 s.',
  })
})

it('a try ends with the client that asked for it', async () => {
  const left = new AbortController()
  const trying = tryModel(async () => silent, { redact, signal: left.signal })
  left.abort(new Error('The client left.'))
  expect(await trying).toMatchObject({ failure: { message: expect.stringContaining('The client left') } })
})

it('is made once, and a key in its error is not told', async () => {
  const failing = new MockLanguageModelV4({
    doGenerate: async () => {
      throw new Error('the key a-key-of-a-person is wrong')
    },
  })
  const failed = await tryModel(async () => failing, { redact, signal: never })
  expect(failed?.failure.message).toBe('The model could not be reached: the key [redacted] is wrong.')
  expect(failing.doGenerateCalls).toHaveLength(1)
})

it('a model that cannot be made is an answer, too', async () => {
  const failed = await tryModel(() => Promise.reject(new UnknownModel('openai needs a key.')), {
    redact,
    signal: never,
  })
  expect(failed?.failure).toMatchObject({ code: 'model_unknown', message: 'openai needs a key.' })
})
