import { describe, expect, it } from 'vitest'
import { signatureOf, signedInput } from './session-argument.ts'

const SECRET = 'a secret of the data folder'
const secret = (): string => SECRET
const signed = (id: string, call: string, mac = signatureOf(SECRET, id, call)): unknown => ({
  title: 'A',
  runsheet_session: { id, call, mac },
})

describe("the signature of OpenCode's plugin", () => {
  it('names the chat and the call, and is taken out before the arguments are validated', () => {
    expect(signedInput(signed('ses_1', 'call_1'), secret)).toEqual({
      input: { title: 'A' },
      signed: { session: 'ses_1', call: 'call_1' },
    })
    expect(signedInput({ title: 'A' }, secret)).toEqual({ input: { title: 'A' }, signed: undefined })
  })

  it.each([
    ['of another chat', signed('ses_2', 'call_1', signatureOf(SECRET, 'ses_1', 'call_1'))],
    ['of another call', signed('ses_1', 'call_2', signatureOf(SECRET, 'ses_1', 'call_1'))],
    ['with another secret', signed('ses_1', 'call_1', signatureOf('other', 'ses_1', 'call_1'))],
    ['without one', { runsheet_session: { id: 'ses_1', call: 'call_1' } }],
    ['as a text', { runsheet_session: 'ses_1' }],
    ['with a shorter one', signed('ses_1', 'call_1', 'ab')],
  ])('%s is invalid', (_, raw) => {
    expect(signedInput(raw, secret).signed).toBe('invalid')
  })

  it('is invalid where there is no secret', () => {
    expect(signedInput(signed('ses_1', 'call_1'), () => undefined).signed).toBe('invalid')
  })
})
