import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffWords, patchWords, showDiff } from './diff.ts'

const text = fc
  .array(fc.constantFrom('a', '"b c"', '"', ', ', '\n', '\r\n', '€', '{', '\\'), { maxLength: 14 })
  .map(words => words.join(''))

describe('a difference', () => {
  it('[SU2] of words turns one text into the other', () => {
    const same = fc.property(text, text, (from, to) => patchWords(from, diffWords(from, to)) === to)
    fc.assert(same, { numRuns: 2_000 })
  })

  it('of words has nothing of the line around it', () => {
    const one = '{"mcpServers":{"other":{"env":{"KEY":"secret"}}},"a":1}'
    const two = '{"mcpServers":{"other":{"env":{"KEY":"secret"}},"runsheet":{}},"a":2,"b":3}'
    expect(diffWords(two, one).flatMap(({ added }) => added)).toEqual(['1'])
  })

  it('[SU1] of lines is shown with two lines around it', () => {
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
