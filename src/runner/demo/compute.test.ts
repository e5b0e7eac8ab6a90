import { describe, expect, it } from 'vitest'
import { resultOf, compute } from './compute.ts'

describe('what the demo model can do', () => {
  it.each([
    ['Compute 12 * 7', '12 * 7 = 84'],
    ['What is 2+2?', '2 + 2 = 4'],
    ['Add 0.1 + 0.2', '0.1 + 0.2 = 0.3'],
    ['10 / 4', '10 / 4 = 2.5'],
    ['7 - 10', '7 - 10 = -3'],
    ['3 x 4', '3 x 4 = 12'],
    ['6 ÷ 4', '6 ÷ 4 = 1.5'],
    ['Count the words in "the quick brown fox"', '4 words.'],
    ['Count the letters of “naïve”', '5 characters.'],
    ['Reverse "stressed"', 'desserts'],
    ['Write “Hello” in uppercase: uppercase “Hello”', 'HELLO'],
    ['Make it lowercase: "ABC"', 'abc'],
  ])('[MO5] %s: %s', (title, outcome) => {
    expect(resultOf(title)).toBe(outcome)
  })

  it.each([
    'Book the room for 2026-11-15',
    'Invite 3-4 people',
    'Fix 1/2 of it',
    'Print it 10x15',
    'Compute 1 / 0',
    'Call mum',
  ])('[MO5] %s: walked through, and it says so', title => {
    expect(compute(title)).toBeUndefined()
    expect(resultOf(title)).toBe(`Walked through “${title}”, as the demo model does.`)
  })
})
