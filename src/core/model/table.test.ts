import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Table } from './table.ts'

describe('the table under the state', () => {
  it('a change leaves the old table as it was', () => {
    const before = Table.from([['a', 1]])
    const after = before.with('a', 2).with('b', 3).without('a')
    expect([...before.entries()]).toEqual([['a', 1]])
    expect([...after.entries()]).toEqual([['b', 3]])
  })

  it('taking out what is not there changes nothing', () => {
    const table = Table.from([['a', 1]])
    expect(table.without('b')).toBe(table)
  })

  it('holds what a map holds, whatever is put in and taken out', () => {
    const change = fc.record({ key: fc.stringMatching(/^[ab]{0,3}$/), value: fc.option(fc.nat()) })
    fc.assert(
      fc.property(fc.array(change), changes => {
        const map = new Map<string, number>()
        let table = Table.from<number>()
        for (const { key, value } of changes) {
          if (value === null) map.delete(key)
          else map.set(key, value)
          table = value === null ? table.without(key) : table.with(key, value)
          expect(table.size).toBe(map.size)
          expect(table.get(key)).toBe(map.get(key))
          expect(table.has(key)).toBe(map.has(key))
        }
        expect(new Map(table.entries())).toEqual(map)
        expect(new Set(table.values())).toEqual(new Set(map.values()))
        expect(new Map(Table.from(map).entries())).toEqual(map)
      }),
    )
  })

  it('keeps keys apart that fall into the same bucket', () => {
    const keys = Array.from({ length: 2_000 }, (_, index) => `key-${index}`)
    const table = Table.from(keys.map(key => [key, key] as const))
    expect(table.size).toBe(2_000)
    for (const key of keys) expect(table.get(key)).toBe(key)
  })

  it('a key that is given twice counts once, with its last value', () => {
    const table = Table.from([
      ['a', 1],
      ['a', 2],
    ])
    expect(table.size).toBe(1)
    expect(table.get('a')).toBe(2)
  })
})
