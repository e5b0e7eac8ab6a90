import { expect, it } from 'vitest'
import { Driver } from '../../../test/support/domain.ts'
import type { StoredEvent } from './event.ts'
import { eventProblem, renamedLog } from './log.ts'
import { apply, emptyConversation, listed } from './conversation.ts'

const task = (id: string, title: string): StoredEvent =>
  ({
    type: 'task_created',
    timestamp: '2026-11-16T00:00:00.000Z',
    seq: 1,
    session_id: 'old',
    turn_id: null,
    data: { task: { id, title, session_id: 'old' }, by: 'model' },
  }) as StoredEvent

const answer = (result: object): StoredEvent =>
  ({
    type: 'tool_answered',
    timestamp: '2026-11-16T00:00:00.001Z',
    seq: 2,
    session_id: 'old',
    turn_id: 't1',
    data: { tool_call_id: 'call-1', tool: 'x', result, duration_ms: 1, ok: true },
  }) as StoredEvent

it('a UUID is replaced wherever it stands, in texts, too', () => {
  const id = '01a1e1c2-9aac-7710-a8cb-b687ff6f0303'
  const renamed = renamedLog('new', () => 'fresh')
  expect(renamed(task(id, `see ${id}`))).toMatchObject({
    session_id: 'new',
    data: { task: { id: 'fresh', title: 'see fresh', session_id: 'new' } },
  })
  expect(renamed(answer({ tasks: [{ id }], said: `done: ${id}, not ${id.replace('01', '02')}` }))).toMatchObject({
    data: { result: { tasks: [{ id: 'fresh' }], said: `done: fresh, not ${id.replace('01', '02')}` } },
  })
})

it('a short id of a host is replaced in the fields of ids only', () => {
  const renamed = renamedLog('new', () => 'fresh')
  expect(renamed(task('a', 'a'))).toMatchObject({ data: { task: { id: 'fresh', title: 'a' } } })
  expect(renamed(answer({ task_id: 'a', task_ids: ['a', 'b'], text: 'a', session_id: 'other' }))).toMatchObject({
    data: {
      tool_call_id: 'call-1',
      result: { task_id: 'fresh', task_ids: ['fresh', 'b'], text: 'a', session_id: 'other' },
    },
  })
})

it('a renamed log is a log: it folds, and nothing in it refers to what is not there', () => {
  const driver = new Driver()
  driver.start('turn-1', { review: false, assessor: false, gate: false })
  driver.run(driver.adds('model', 'One', 'Two'))
  driver.run(driver.sets('person', 1, { title: 'First' }))
  let drawn = 0
  const renamed = renamedLog('new', () => `id-${(drawn += 1)}`)
  let state = emptyConversation('new')
  for (const event of driver.log.map(renamed)) {
    expect(eventProblem(state, event)).toBeUndefined()
    state = apply(state, event)
  }
  expect(listed(state).map(({ id, title }) => [id, title])).toEqual([
    ['id-1', 'First'],
    ['id-2', 'Two'],
  ])
})
