import { expect, it } from 'vitest'
import { inRun, START } from '../../../test/support/domain.ts'
import type { StoredEvent } from '../model/event.ts'
import { limitedTurns } from './view.ts'

const { log } = inRun({ max_steps: 3, max_steps_with_plan: 5 })
const after = (event: Pick<StoredEvent, 'type' | 'data'>): readonly string[] => {
  const next = { ...event, seq: log.length + 1, timestamp: START, session_id: 'chat-1', turn_id: 'turn-1' }
  return limitedTurns.of([...log, next as StoredEvent]).turns
}
const finished = (status: 'incomplete' | 'done', steps: number): readonly string[] => {
  const counts = { completed: 0, blocked: 0, disputed: 0, cancelled: 0, removed: 0, open: 1 }
  return after({ type: 'turn_finished', data: { turn_id: 'turn-1', status, steps, remaining: 1, counts, usage: {} } })
}

it('a turn that used all its steps counts as limited; one that only left tasks open does not', () => {
  expect(finished('incomplete', 5)).toEqual(['turn-1'])
  expect(finished('incomplete', 4)).toEqual([])
  expect(finished('done', 5)).toEqual([])
})

it('so does a turn that reached max_advances', () => {
  expect(after({ type: 'todos_limit_reached', data: { message: '', remaining: 1, current: null } })).toEqual(['turn-1'])
})
