import { expect, it } from 'vitest'
import { dropEdge } from './reorder.ts'
import { moveItem } from '../review/draft.ts'

it('an item is moved up, down and to the end', () => {
  expect(moveItem(['a', 'b', 'c'], 0, 1)).toEqual(['b', 'a', 'c'])
  expect(moveItem(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b'])
  expect(moveItem(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a'])
})

it('a move out of the list changes nothing', () => {
  const items = ['a', 'b']
  expect(moveItem(items, 0, -1)).toBe(items)
  expect(moveItem(items, 1, 2)).toBe(items)
  expect(moveItem(items, 5, 0)).toBe(items)
})

it('the edge that is marked is where the item ends up', () => {
  const items = ['a', 'b', 'c', 'd']
  for (const from of items.keys()) {
    for (const to of items.keys()) {
      if (from === to) continue
      const moved = moveItem(items, from, to)
      const target = moved.indexOf(items[to] ?? '')
      const item = moved.indexOf(items[from] ?? '')
      expect(item, `${from} to ${to}`).toBe(dropEdge(from, to) === 'after' ? target + 1 : target - 1)
    }
  }
})
