import { describe, expect, it } from 'vitest'
import { type EditableRow, newRow } from './draft.ts'
import { NO_HISTORY, noted, type RowHistory, stepped } from './use-draft.ts'

type Rows = readonly EditableRow[]

/** Rows with a history, as a review has them. */
class Desk {
  rows: Rows = [newRow({ title: 'A' }), newRow({ title: 'B' })]
  history: RowHistory = NO_HISTORY
  now = 0

  type(title: string, field = 'title'): void {
    this.history = noted(this.history, this.rows, (this.now += 100), `0 ${field}`)
    this.rows = this.rows.map((row, index) => (index === 0 ? { ...row, [field]: title } : row))
  }

  change(change: (rows: Rows) => Rows): void {
    this.history = noted(this.history, this.rows, this.now)
    this.rows = change(this.rows)
  }

  step(by: 'undo' | 'redo'): string[] | undefined {
    const to = stepped(this.history, this.rows, by)
    if (!to) return undefined
    this.history = to.history
    this.rows = to.rows
    return this.titles
  }

  get titles(): string[] {
    return this.rows.map(({ title }) => title)
  }
}

describe('undo in a review', () => {
  it('[PA30] takes back removals, moves, choices and typing in order, and makes them again', () => {
    const desk = new Desk()
    for (const text of ['A+', 'A++']) desk.type(text)
    desk.change(rows => rows.slice(0, 1))
    desk.type('C')
    expect([desk.step('undo'), desk.step('undo'), desk.step('undo'), desk.step('undo')]).toEqual([
      ['A++'],
      ['A++', 'B'],
      ['A', 'B'],
      undefined,
    ])
    expect([desk.step('redo'), desk.step('redo'), desk.step('redo'), desk.step('redo')]).toEqual([
      ['A++', 'B'],
      ['A++'],
      ['C'],
      undefined,
    ])
  })

  it('[PA30] typing is one change until it pauses, or goes on in another field', () => {
    const desk = new Desk()
    for (const text of ['A1', 'A12']) desk.type(text)
    desk.now += 1_000
    desk.type('A123')
    desk.type('d', 'details')
    desk.type('A1234')
    expect([desk.step('undo'), desk.step('undo'), desk.step('undo'), desk.step('undo')]).toEqual([
      ['A123', 'B'],
      ['A123', 'B'],
      ['A12', 'B'],
      ['A', 'B'],
    ])
  })

  it('[PA30] a change of several rows at once is one change', () => {
    const desk = new Desk()
    const before = desk.rows
    for (const row of before) {
      desk.history = noted(desk.history, before, desk.now)
      desk.rows = desk.rows.map(each => (each.key === row.key ? { ...each, priority: 'high' } : each))
    }
    desk.step('undo')
    expect(desk.rows).toBe(before)
    expect(desk.step('undo')).toBeUndefined()
  })

  it('[PA30] what is changed after an undo ends what could be made again', () => {
    const desk = new Desk()
    desk.change(rows => rows.slice(0, 1))
    desk.step('undo')
    desk.type('X')
    expect(desk.step('redo')).toBeUndefined()
  })
})
