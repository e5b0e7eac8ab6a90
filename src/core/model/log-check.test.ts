import { expect, it } from 'vitest'
import { Driver } from '../../../test/support/domain.ts'
import { corpusLog } from '../../../test/support/corpus.ts'
import { apply, emptyConversation } from './conversation.ts'
import type { StoredEvent } from './event.ts'
import { eventProblem } from './log-check.ts'
import { renamedLog } from './renamed-log.ts'

const driver = new Driver()
driver.start('turn-1', { review: false, assessor: false, gate: false })
driver.run(driver.adds('model', 'One'))
const { state } = driver
const created = driver.log.find(event => event.type === 'task_created')
const { task } = created?.data ?? {}

/** The next event of the log, of any type. */
const next = (type: string, data: object, more: object = {}): StoredEvent =>
  ({
    type,
    timestamp: state.updated_at ?? '',
    seq: state.seq + 1,
    session_id: state.session_id,
    turn_id: 'turn-1',
    data,
    ...more,
  }) as StoredEvent

it.each([
  ['a seq is missing', next('policy_set', {}, { seq: state.seq + 2 }), /^seq is \d+, expected \d+$/],
  ['a seq comes twice', next('policy_set', {}, { seq: state.seq }), /^seq is/],
  ['it is of another conversation', next('policy_set', {}, { session_id: 'x' }), /^session_id is not/],
  ['time goes back', next('policy_set', {}, { timestamp: '1999' }), /^timestamp is before/],
  ['a task is created twice', next('task_created', { task }), /exists already/],
  ['a task of another conversation', next('task_created', { task: { ...task, session_id: 'x' } }), /session_id/],
  ['an unknown task changes', next('task_changed', { task: { ...task, id: 'x' } }), /no such task/],
  ['an unknown task is removed', next('task_removed', { task: { ...task, id: 'x' } }), /no such task/],
  ['a turn starts twice', next('turn_started', { turn_id: 'turn-1' }), /exists already/],
  ['an unknown turn ends', next('turn_finished', { turn_id: 'x' }), /no such turn/],
  ['an unknown message is edited', next('queued_message_edited', { message_id: 'x' }), /no such queued message/],
  ['an unknown message is taken back', next('queued_message_withdrawn', { message_id: 'x' }), /no such queued message/],
  ['the queue of an unknown turn', next('queue_released', { turn_id: 'x' }), /no such turn/],
  ['an unknown review ends', next('task_create_review_resolved', { review_id: 'x' }), /no such pending review/],
  ['a panel of an unknown review', next('review_panel_opened', { review_id: 'x' }), /no such review/],
  ['a check of an unknown task is ticked', next('check_ticked', { task_id: 'x' }), /no such task/],
  ['a review of another conversation', next('task_create_review_required', { session_id: 'x' }), /session_id/],
] as const)('[BK7] %s: it cannot be the next event', (_, event, why) => {
  expect(eventProblem(state, event)).toMatch(why)
})

it('[BK7] every event of a log that we wrote can be the next', () => {
  expect(eventProblem(state, next('task_changed', { task }))).toBeUndefined()
})

it('[BK7] what is said of a task may come after its removal', () => {
  expect(eventProblem(state, next('check_ran', { task_id: 'gone' }))).toBeUndefined()
})

it('[BK7][TU13] a log with messages that wait is imported under another id, and they wait there as well', () => {
  const log = corpusLog('steered')
  let drawn = 0
  const rename = renamedLog('other', () => `task-${(drawn += 1)}`)
  const [from, to] = [log, log.map(rename)].map(events =>
    events.reduce(
      (known, event) => {
        expect(eventProblem(known, event)).toBeUndefined()
        return apply(known, event)
      },
      emptyConversation(events[0]?.session_id ?? ''),
    ),
  )
  expect(from?.queued).toMatchObject([{ text: 'One more thing', version: 1 }])
  expect(to?.queued).toEqual(from?.queued)
})
