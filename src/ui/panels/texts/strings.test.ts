import { expect, it } from 'vitest'
import { chinese } from './chinese.ts'
import { english } from './english.ts'
import { englishEvents } from './english-thread.ts'
import { withThread } from './use-thread-strings.ts'

/** Every text in an object of strings, by its path; functions are called with numbers. */
function textsIn(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value === 'function') {
    const data = path.includes('.by') ? { limit: 2, got: 3, allowed: [1] } : 3
    const make = value as (...args: unknown[]) => string
    return [[path, path.endsWith('.list') ? make(['1']) : make(2, data, ['4'])]]
  }
  return Object.entries(value as object).flatMap(([key, each]) => textsIn(each, `${path}.${key}`))
}

it('[CH19] both languages have every text, each in its own script', () => {
  const en = new Map(textsIn({ ...withThread(english), events: englishEvents }))
  const zh = new Map(textsIn(chinese))
  expect([...zh.keys()].toSorted()).toEqual([...en.keys()].toSorted())
  expect([...en].filter(([, text]) => text === '' || /\p{Script=Han}|undefined/u.test(text))).toEqual([])
  const foreign = [...zh].filter(([path, text]) => text === '' || (path !== '.locale' && /[A-Za-z]{2,}/.test(text)))
  expect(foreign).toEqual([])
})

it('[CH19] English counts one as one', () => {
  expect(english.reviewPending(1)).toBe('A plan with 1 step is waiting for your review.')
  expect(english.tagsSet(2)).toBe('Tags set in 2 steps')
})
