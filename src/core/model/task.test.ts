import { describe, expect, it } from 'vitest'
import { byPosition, isOpen, isSettled, NEXT, STATUSES, type Task } from './task.ts'

describe('status', () => {
  it('[TA1] the table of allowed status changes', () => {
    expect(NEXT).toEqual({
      pending: ['in_progress', 'completed', 'blocked', 'cancelled'],
      in_progress: ['pending', 'completed', 'blocked', 'cancelled'],
      blocked: ['pending', 'in_progress', 'completed', 'cancelled'],
      completed: ['pending'],
      cancelled: ['pending'],
    })
  })

  it('[TA3] open is pending or in_progress, settled is the rest', () => {
    expect(STATUSES.filter(status => isOpen({ status }))).toEqual(['pending', 'in_progress'])
    expect(STATUSES.filter(status => isSettled({ status }))).toEqual(['blocked', 'completed', 'cancelled'])
  })
})

describe('the order of the list', () => {
  const at = (position: number, number: number): Task => ({ position, number }) as Task

  it('goes by position, and by number where two share one', () => {
    const list = [at(2, 1), at(1.5, 4), at(-1, 3), at(2, 2)].sort(byPosition)
    expect(list.map(task => task.number)).toEqual([3, 4, 1, 2])
  })
})
