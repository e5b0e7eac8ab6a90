import { describe, expect, it } from 'vitest'
import { compute } from './compute.ts'
import { workOn } from './work.ts'

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
    ['Compare Ann 120, Bob 95 and Cem 140', '1. Bob: 95\n2. Ann: 120\n3. Cem: 140'],
  ])('[MO5] %s: %s', (title, outcome) => {
    expect(compute(title)).toBe(outcome)
  })

  it.each([
    'Book the room for 2026-11-15',
    'Invite 3-4 people',
    'Fix 1/2 of it',
    'Print it 10x15',
    'Compute 1 / 0',
    'Call mum',
    'Write the code',
    'Write to Bob',
  ])('[MO5] %s: simulated, and it says so', title => {
    expect(compute(title)).toBeUndefined()
    expect(workOn(title, [])).toEqual({ simulated: 'Simulated: the demo model has no tool for this.' })
  })
})
