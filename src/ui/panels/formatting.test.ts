import { describe, expect, it, vi } from 'vitest'
import { Driver, inRun } from '../../../test/support/domain.ts'
import { snapshotOf } from '../../core/model/snapshot.ts'
import { chinese } from './texts/chinese.ts'
import { turnsInOrder } from './parts/provider.tsx'
import { classNames } from './parts/controls.tsx'
import { english } from './texts/english.ts'
import { formatDuration } from './parts/text.ts'
import { localeOf } from './texts/strings.ts'

it('durations are minutes and seconds, or hours and minutes; never negative', () => {
  expect([-5, 0, 999, 61_000, 3_599_999, 3_600_000, 9_060_000].map(formatDuration)).toEqual([
    '0:00',
    '0:00',
    '0:00',
    '1:01',
    '59:59',
    '1:00 h',
    '2:31 h',
  ])
})

it('turns are in the order in which they began', () => {
  const chat: Driver = inRun()
  const names = ['turn-1']
  for (let number = 2; number < 30; number += 1) {
    chat.finish(names.at(-1) ?? '')
    chat.wait(1)
    names.push(`turn-${number}`)
    chat.start(`turn-${number}`)
  }
  expect(turnsInOrder(snapshotOf(chat.state)).map(({ id }) => id)).toEqual(names)
})

it('class names are joined, and missing ones left out', () => {
  expect(classNames('a b', undefined, '', 'c')).toBe('a b c')
})

describe('[CH19] dates and times', () => {
  it('[CH19] follow the region of the browser only in the language of the page', () => {
    vi.stubGlobal('navigator', { languages: ['de-DE', 'en-US@posix', 'en-GB', 'zh-TW'] })
    expect(localeOf(english)).toBe('en-GB')
    expect(localeOf(chinese)).toBe('zh-TW')
    vi.stubGlobal('navigator', undefined)
    expect(localeOf(english)).toBe('en')
    vi.unstubAllGlobals()
  })
})
