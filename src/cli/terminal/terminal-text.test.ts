import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainText } from '../../core/text/plain-text.ts'
import { fitted, oneLine, paintFor, widthOf, wrapped } from './terminal-text.ts'

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
const columns = fc.integer({ min: 2, max: 60 })

describe('text for a terminal', () => {
  it('[TE4] a line has no control characters, and is no wider than it may be', () => {
    fc.assert(
      fc.property(text, columns, (raw, width) => {
        expect(oneLine(raw)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
        expect(widthOf(fitted(raw, width))).toBeLessThanOrEqual(width)
      }),
    )
  })

  it('[TE4] a text that is broken into lines loses nothing, whatever its width', () => {
    fc.assert(
      fc.property(text, columns, (raw, width) => {
        const lines = wrapped(raw, width)
        expect(lines.join('')).toBe(plainText(raw.toWellFormed()).replaceAll('\t', '    ').replaceAll('\n', ''))
        expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width)
      }),
    )
  })

  it('[TE4] breaks behind spaces where it can, and counts wide characters twice', () => {
    expect(wrapped('one two three', 8)).toEqual(['one two ', 'three'])
    expect(wrapped('财务部门', 4)).toEqual(['财务', '部门'])
    expect(fitted('财务部门', 5)).toBe('财务…')
    expect(fitted('🈯!', 2)).toBe('…')
    expect(widthOf('e\u0301🚀')).toBe(3)
  })

  it('[TE4] colours a terminal only, and not with NO_COLOR', () => {
    expect(paintFor({ isTTY: true }, { TERM: 'xterm' }).bold('a')).toBe('\u001b[1ma\u001b[22m')
    expect(paintFor({ isTTY: true }, { TERM: 'xterm', NO_COLOR: '' }).bold('a')).not.toBe('a')
    for (const [stream, environment] of [
      [{ isTTY: false }, {}],
      [{ isTTY: true }, { NO_COLOR: '1' }],
      [{ isTTY: true }, { TERM: 'dumb' }],
    ] as const) {
      expect(paintFor(stream, environment).bold('a')).toBe('a')
    }
  })
})
