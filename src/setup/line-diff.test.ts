import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffLines, patch } from './line-diff.ts'
import { showDiff } from './show-diff.ts'

const text = fc
  .array(fc.constantFrom('a\n', 'b\n', 'c\r\n', '\n'), { maxLength: 14 })
  .chain(lines => fc.constantFrom(lines.join(''), `${lines.join('')}end`))

describe('a difference of lines', () => {
  it('[SU4] turns one text into the other', () => {
    const same = fc.property(text, text, (from, to) => patch(from, diffLines(from, to)) === to)
    fc.assert(same, { numRuns: 2_000 })
  })

  it('[SU1] is shown with two lines around it', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `${index}\n`)
    const after = lines.with(10, 'ten\n').with(25, '25\nmore\n')
    expect(showDiff(lines.join(''), after.join(''))).toEqual([
      '  …',
      '  8',
      '  9',
      '- 10',
      '+ ten',
      '  11',
      '  12',
      '  …',
      '  24',
      '  25',
      '+ more',
      '  26',
      '  27',
      '  …',
    ])
  })
})
