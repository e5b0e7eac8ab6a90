import { describe, expect, it } from 'vitest'
import { authors, dataOf, inRun, type Driver } from '../../../test/support/domain.ts'
import { listed } from '../model/conversation.ts'
import { placements, positionBetween } from './transition.ts'

const four = (): Driver => {
  const chat = inRun()
  chat.run(chat.adds('model', 'A', 'B', 'C', 'D'))
  return chat
}

describe('a position between two neighbours', () => {
  it('is the middle; at an end it is the next whole number', () => {
    expect(positionBetween(2, 3)).toBe(2.5)
    expect(positionBetween(-1, 4)).toBe(1.5)
    expect(positionBetween(undefined, 1)).toBe(0)
    expect(positionBetween(undefined, 0.5)).toBe(0)
    expect(positionBetween(4, undefined)).toBe(5)
    expect(positionBetween(4.5, undefined)).toBe(5)
    expect(positionBetween(undefined, undefined)).toBe(1)
  })

  it('does not exist where no number fits', () => {
    expect(positionBetween(1, 1)).toBeUndefined()
    expect(positionBetween(1, 1 + Number.EPSILON)).toBeUndefined()
  })
})

describe('a position', () => {
  it('of what is new is behind the last, also after the last was removed', () => {
    const chat = four()
    chat.run(chat.removes('person', 4))
    chat.run(chat.adds('model', 'E'))
    expect(chat.task(5).position).toBe(5)
    chat.run(chat.sets('person', 1, { position: 7.5 }))
    chat.run(chat.adds('person', 'F'))
    expect(chat.task(6).position).toBe(8)
  })

  it('that another holds puts the task where that one stands, upwards', () => {
    const chat = four()
    const events = chat.run(chat.sets('person', 4, { position: 2 }))
    expect(chat.titles()).toEqual(['A', 'D', 'B', 'C'])
    expect(dataOf(events, 'task_changed')).toMatchObject([{ task: { position: 1.5 }, from: { position: 4 } }])
  })

  it('and downwards', () => {
    const chat = four()
    chat.run(chat.sets('person', 1, { position: 3 }))
    expect(chat.titles()).toEqual(['B', 'C', 'A', 'D'])
    expect(chat.task(1).position).toBe(3.5)
  })

  it('at either end', () => {
    const chat = four()
    chat.run(chat.sets('person', 3, { position: 1 }))
    chat.run(chat.sets('person', 2, { position: 4 }))
    expect(chat.titles()).toEqual(['C', 'A', 'D', 'B'])
    expect([chat.task(3).position, chat.task(2).position]).toEqual([0, 5])
  })

  it('that no task holds is taken as it is', () => {
    const chat = four()
    chat.run(chat.sets('person', 4, { position: -2.25 }))
    expect(chat.titles()).toEqual(['D', 'A', 'B', 'C'])
    expect(chat.task(4).position).toBe(-2.25)
  })

  it('a new task may name one too', () => {
    const chat = four()
    chat.run(chat.adds('person', { title: 'E', position: 2 }))
    expect(chat.titles()).toEqual(['A', 'E', 'B', 'C', 'D'])
  })

  it('where no position is left between two tasks, the system renumbers the list', () => {
    const chat = four()
    let renumbered = 0
    for (let move = 0; move < 60; move += 1) {
      const [first, second, third, last] = listed(chat.state)
      const events = chat.run(chat.sets('person', last?.number ?? 0, { position: second?.position }))
      expect(listed(chat.state).map(task => task.id)).toEqual([first, last, second, third].map(task => task?.id))
      const others = authors(events).filter(([number]) => number !== last?.number)
      if (others.length === 0) continue
      renumbered += 1
      expect(others.map(([, by]) => by)).toEqual(['system', 'system'])
      expect(listed(chat.state).map(task => task.position)).toEqual([1, 1.5, 2, 3])
    }
    expect(renumbered).toBe(1)
  })

  it('also where an order finds no room', () => {
    const chat = four()
    for (let batch = 0; batch < 60; batch += 1) {
      const before = chat.titles()
      chat.run(chat.adds('model', { title: `X${batch}`, order: 2, status: 'completed' }))
      expect(chat.titles()).toEqual([before[0], `X${batch}`, ...before.slice(1)])
    }
    const positions = listed(chat.state).map(task => task.position)
    expect(new Set(positions).size).toBe(positions.length)
  })
})

describe('an order', () => {
  it('is a 1-based place in the plan', () => {
    const chat = four()
    chat.run(chat.adds('model', { title: 'X', order: 2 }))
    expect(chat.titles()).toEqual(['A', 'X', 'B', 'C', 'D'])
  })

  it('is clamped', () => {
    const chat = four()
    chat.run(chat.adds('model', { title: 'X', order: -3 }, { title: 'Y', order: 99 }))
    expect(chat.titles()).toEqual(['X', 'A', 'B', 'C', 'D', 'Y'])
  })

  it('ties go in input order, and what has none goes to the end', () => {
    const chat = four()
    chat.run(chat.adds('model', { title: 'X', order: 2 }, 'Z', { title: 'Y', order: 2 }))
    expect(chat.titles()).toEqual(['A', 'X', 'Y', 'B', 'C', 'D', 'Z'])
    expect([5, 6, 7].map(number => chat.task(number).title)).toEqual(['X', 'Z', 'Y'])
  })

  it('counts the plan, not the conversation', () => {
    const chat = four()
    chat.finish('turn-1')
    chat.start('turn-2')
    chat.run(chat.adds('model', 'E'))
    chat.run(chat.adds('model', { title: 'X', order: 1 }))
    expect(chat.titles()).toEqual(['A', 'B', 'C', 'D', 'X', 'E'])
  })

  it('[CU1] leaves the current one current', () => {
    const chat = four()
    chat.run(chat.adds('model', { title: 'X', order: 1 }))
    expect(chat.statuses()).toEqual(['pending', 'in_progress', 'pending', 'pending', 'pending'])
  })

  it('several orders in one call each end up in their place', () => {
    const items = [3, undefined, 1, 3].map((order, index) => ({ item: `n${index}`, order }))
    const list = ['a', 'b', 'c']
    for (const { item, before } of placements(list.slice(), items)) {
      list.splice(before === undefined ? list.length : list.indexOf(before), 0, item)
    }
    expect(list).toEqual(['n2', 'a', 'n0', 'n3', 'b', 'c', 'n1'])
  })
})
