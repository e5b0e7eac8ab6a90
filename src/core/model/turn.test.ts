import { describe, expect, it } from 'vitest'
import type { Policy } from './policy.ts'
import { type Ending, finalStatus, isFinished, isRunning, type PlanCounts, type Turn, type TurnStatus } from './turn.ts'

const NOTHING: PlanCounts = { completed: 0, blocked: 0, disputed: 0, cancelled: 0, removed: 0, open: 0 }

function ended(
  ending: Ending,
  counts: Partial<PlanCounts> = {},
  watch: Partial<Policy> = { gate: true },
  dropped = 0,
): TurnStatus {
  return finalStatus(ending, { ...NOTHING, ...counts }, { assessor: false, gate: false, ...watch } as Policy, dropped)
}

describe('what an ending amounts to', () => {
  it('[TU6] done: the model answered, and nothing is open or blocked', () => {
    expect(ended('answered')).toBe('done')
    expect(ended('answered', { completed: 2, cancelled: 1, removed: 1 })).toBe('done')
  })

  it('[TU6] incomplete: something is open or blocked, under an assessor or a gate', () => {
    for (const watch of [{ assessor: true }, { gate: true }, { assessor: true, gate: true }]) {
      expect(ended('answered', { open: 1 }, watch)).toBe('incomplete')
      expect(ended('answered', { blocked: 1 }, watch)).toBe('incomplete')
    }
  })

  it('[TU6] where neither assessor nor gate is on, the plan does not count', () => {
    expect(ended('answered', { open: 3, blocked: 2 }, {})).toBe('done')
  })

  it('incomplete: a model removed tasks from the plan, and nothing of it was completed', () => {
    expect(ended('answered', { removed: 2 }, { assessor: true }, 2)).toBe('incomplete')
    expect(ended('answered', { removed: 2 }, { gate: true }, 1)).toBe('incomplete')
    expect(ended('answered', { removed: 2, completed: 1 }, { gate: true }, 2)).toBe('done')
    expect(ended('answered', { removed: 2, cancelled: 1 }, { gate: true }, 2)).toBe('incomplete')
    expect(ended('answered', { removed: 2 }, {}, 2)).toBe('done')
  })

  it('done: a person emptied the plan', () => {
    expect(ended('answered', { removed: 2 })).toBe('done')
    expect(ended('answered', { removed: 2, cancelled: 1 })).toBe('done')
  })

  it('[TU6] incomplete: the budget ran out, even with nothing open', () => {
    expect(ended('exhausted')).toBe('incomplete')
    expect(ended('exhausted', {}, {})).toBe('incomplete')
  })

  it('[TU6] failed and stopped are what they are', () => {
    expect(ended('failed')).toBe('failed')
    expect(ended('stopped', { open: 1 })).toBe('stopped')
  })
})

describe('the states of a turn', () => {
  const turns = (['open', 'running', 'done', 'incomplete', 'failed', 'stopped'] as const).map(
    status => ({ status }) as Turn,
  )

  it('all but open and running are over', () => {
    expect(turns.filter(isFinished).map(turn => turn.status)).toEqual(['done', 'incomplete', 'failed', 'stopped'])
    expect(turns.filter(isRunning).map(turn => turn.status)).toEqual(['running'])
  })
})
