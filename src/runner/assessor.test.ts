import { describe, expect, it } from 'vitest'
import { verdictIn } from './assessor.ts'

describe('what an assessor said', () => {
  it.each(['OK', 'OK\n', '  OK  ', '\n\nOK', 'OK\r\nAll of it is there.', 'OK\nNOT_OK: or is it?'])(
    '[JU3] %j is a pass',
    answer => {
      expect(verdictIn(answer)).toEqual({ verdict: 'ok', reason: '' })
    },
  )

  it.each([
    ['NOT_OK: no tests', 'no tests'],
    ['NOT_OK:no tests', 'no tests'],
    ['NOT_OK : no tests  ', 'no tests'],
    ['\nNOT_OK: no tests\nOK', 'no tests'],
    ['NOT_OK: it says "OK"', 'it says "OK"'],
    ['NOT_OK: 没有测试', '没有测试'],
  ])('[JU3] %j is a no: %s', (answer, reason) => {
    expect(verdictIn(answer)).toEqual({ verdict: 'not_ok', reason })
  })

  it.each([
    '',
    ' \n ',
    'ok',
    'Ok',
    'OKAY',
    'OK!',
    'OK, but',
    'OK: it is there',
    'OK NOT_OK: no',
    '**OK**',
    '`OK`',
    '"OK"',
    'The answer is OK',
    'Sure!\nOK',
    'NOT_OK',
    'NOT_OK:',
    'NOT_OK:   ',
    'NOT_OK\nno tests',
    'not_ok: no tests',
    'NOT OK: no tests',
    'NOT_OK no tests',
    'NOT_OK. no tests',
    '{"verdict":"OK"}',
    '<think>OK</think>',
    'О\u041a',
    'Ｏ\uff2b',
  ])('[JU3] %j is neither, and never a pass', answer => {
    const { verdict, reason } = verdictIn(answer)
    expect(verdict).toBe('unknown')
    expect(reason).toMatch(/^The assessor (gave no answer\.$|said: \S)/)
  })

  it('[JU3] a reason is as long as is of use, and never half a character', () => {
    const { reason } = verdictIn(`NOT_OK: ${'😀'.repeat(9_000)}`)
    expect(Array.from(reason)).toHaveLength(2_000)
    expect(reason.isWellFormed()).toBe(true)
    expect(verdictIn('😀'.repeat(9_000)).reason.length).toBeLessThan(500)
  })
})
