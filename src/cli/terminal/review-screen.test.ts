import { expect, it } from 'vitest'
import { instantOf } from '../../core/model/instant.ts'
import { askedText } from './review-screen.ts'

it.each([
  [0, '0 s'],
  [119, '119 s'],
  [120, '2 min'],
  [119 * 60, '119 min'],
  [2 * 3_600, '2 h'],
  [47 * 3_600, '47 h'],
  [72 * 3_600, '3 days'],
  // The clock of another machine may be ahead.
  [-5, '0 s'],
])('a plan that was asked %i s ago is said to be: %s', (seconds, words) => {
  expect(askedText(instantOf(0), instantOf(seconds * 1_000))).toBe(`asked ${words} ago`)
})
