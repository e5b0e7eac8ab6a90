import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactor } from '../core/text/redact.ts'
import { plainText } from '../core/text/plain-text.ts'
import { MAX_TAIL, Output, Search } from './run-command.ts'

const SECRET = 'sk-live-0123456789'

function output(
  options: { contains?: string; maxBytes?: number } = {},
  ...chunks: readonly (string | Buffer)[]
): Output {
  const taken = new Output({ contains: undefined, maxBytes: 1e9, redact: redactor({ known: [SECRET] }), ...options })
  for (const chunk of chunks) taken.take(Buffer.from(chunk))
  return taken
}

describe('the output of a command', () => {
  it('[CR10] is searched across the borders of its chunks', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 4 }), fc.array(fc.string({ maxLength: 3 })), (text, parts) => {
        const search = new Search(text)
        for (const part of parts) search.take(Buffer.from(part))
        expect(search.isFound).toBe(parts.join('').includes(text))
      }),
    )
  })

  it('[CR10] keeps its last 8 kB, in whole characters', () => {
    const parts = Array.from({ length: 300 }, (_, index) => `${index} ${'日本語'.repeat(100)}\n`)
    const { tail } = { tail: output({}, ...parts).tail() }
    expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(MAX_TAIL)
    expect(Buffer.byteLength(tail)).toBeGreaterThan(MAX_TAIL - 4)
    expect(parts.join('').endsWith(tail)).toBe(true)
  })

  it('[CR10] is the same text however it is cut into chunks', () => {
    const text = Array.from({ length: 30_000 }, (_, index) => `line ${index}\n`).join('')
    const whole = output({}, text)
    for (const size of [1_000, 63_999, 64_000, 64_001]) {
      const cut = output({}, ...(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []))
      expect(cut.tail()).toBe(whole.tail())
    }
  })

  it('[CR10] is plain text: no colours, titles, controls or changes of direction', () => {
    const text = [
      'a\u001b[31;1mred\u001b[0m\r\n',
      '\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\\n',
      '10%\r20%\u0008\u0000\u0007\u001b(B\u009b2K\n',
      'x\u202ey\u2066z\u200f\u061c\u{e0041}\ttab\u001b',
    ]
    expect(output({}, text.join('')).tail()).toBe('ared\nblink\n10%\n20%\nxyz\ttab')
  })

  it('[CR10] is cleaned in linear time', () => {
    for (const part of ['\u001b[', '\u001b]8;;a/;', '\u001b]', '\u001b', '\u001b[;', '\u009b1']) {
      expect(plainText(part.repeat(200_000)).length).toBeLessThan(2_000_000)
    }
  })

  it('[CR10] shows no secret: neither coloured, nor cut in half, nor half printed', () => {
    expect(output({}, `key \u001b[1m${SECRET.slice(0, 5)}\u001b[0m${SECRET.slice(5)}\n`).tail()).not.toContain(SECRET)
    // The window begins in the middle of the secret, and colours fill the rest of it.
    const colours = '\u001b[0m'.repeat(20_000).slice(0, 64_000 - 10)
    expect(output({}, SECRET, colours, '\n').tail()).not.toContain(SECRET.slice(-9))
    const half = output({}, 'dots .... ', SECRET.slice(0, 10))
    expect(half.liveTail()).toBe('dots .... ')
    half.take(Buffer.from(`${SECRET.slice(10)} done\n`))
    expect(half.liveTail()).not.toContain(SECRET)
    expect(half.liveTail()).toContain('done')
  })

  it('[CR10] is not taken beyond its limit', () => {
    const taken = output({ contains: 'ef', maxBytes: 5 })
    expect([taken.take(Buffer.from('abc')), taken.take(Buffer.from('de')), taken.take(Buffer.from('f'))]).toEqual([
      true,
      true,
      false,
    ])
    expect({ tail: taken.tail(), isFound: taken.isFound, sha256: taken.sha256() }).toEqual({
      tail: 'abcde',
      isFound: false,
      sha256: '36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c',
    })
  })

  it('[CR10] need not be UTF-8', () => {
    expect(output({ contains: 'é' }, Buffer.from([0xff, 0xc3, 0xa9, 0x0a])).isFound).toBe(true)
    expect(output({}, Buffer.from([0xff, 0x41, 0x0a])).tail()).toBe('\ufffdA\n')
  })
})
