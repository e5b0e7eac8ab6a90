import { expect, it } from 'vitest'
import { cancels, type Driver, inRun, outside } from '../../../test/support/domain.ts'
import { planOf } from '../model/plan.ts'
import { isAtWork, OUTSIDE_IDLE_MS, OWN_IDLE_MS, work, workedMs } from './work.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** Minutes of work on a task since it was started. */
function minutes(chat: Driver, number: number): number {
  const { started_at = '' } = chat.task(number)
  const { turns } = planOf(chat.state, chat.state.latest_turn ?? '')
  return workedMs(work.of(chat.log), turns, started_at, chat.now) / MINUTE
}
const isWorking = (chat: Driver): boolean => isAtWork(work.of(chat.log)[chat.state.latest_turn ?? ''], chat.now)

it('a step counts the time of its turns, not the days between them', () => {
  const chat = inRun()
  chat.run(chat.adds('model', 'A', 'B'))
  chat.wait(3 * MINUTE).finish('turn-1')
  chat.wait(5 * DAY)
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([3, false])
  chat.start('turn-2', {}, 'turn-1')
  chat.wait(2 * MINUTE)
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([5, true])
})

it('it does not count the time that another turn took', () => {
  const chat = inRun()
  chat.run(chat.adds('model', 'A'))
  chat.wait(MINUTE).finish('turn-1')
  chat.start('turn-2')
  chat.wait(60 * MINUTE).finish('turn-2')
  chat.start('turn-3', {}, 'turn-1')
  expect(minutes(chat, 1)).toBe(1)
})

it('it does not count the wait for a review', () => {
  const chat = inRun({ review: true, review_timeout_ms: DAY })
  chat.run(chat.adds('person', 'A'))
  chat.wait(MINUTE)
  chat.run(chat.adds('model', 'B'))
  chat.wait(60 * MINUTE)
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([1, false])
  chat.run(cancels())
  chat.wait(MINUTE)
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([2, true])
})

it('a stop ends it, although the stop also ends a review', () => {
  const chat = inRun({ review: true })
  chat.run(chat.adds('person', 'A'))
  chat.run(chat.adds('model', 'B'))
  chat.run({ type: 'stop_turn', turn_id: 'turn-1' })
  chat.wait(MINUTE)
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([0, false])
})

it('time in which the server was down is not work', () => {
  const chat = inRun()
  chat.run(chat.adds('model', 'A'))
  chat.wait(2 * MINUTE).answer()
  chat.wait(DAY)
  const idle = OWN_IDLE_MS / MINUTE
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([2 + idle, false])
  chat.answer()
  chat.wait(MINUTE)
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([2 + idle + 1, true])
  chat.wait(DAY).finish('turn-1')
  expect(minutes(chat, 1)).toBe(2 + 2 * idle)
})

it('an agent elsewhere counts as working for ten minutes after each of its calls', () => {
  const chat = outside()
  chat.run(chat.adds('model', 'A'))
  chat.answer()
  chat.wait(8 * MINUTE).answer()
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([8, true])
  chat.wait(DAY)
  const idle = OUTSIDE_IDLE_MS / MINUTE
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([8 + idle, false])
  chat.answer()
  chat.wait(MINUTE)
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([8 + idle + 1, true])
})

it('an agent elsewhere whose plan a person reopened and decided works from its next call on', () => {
  const chat = outside('runsheet', { review: true, review_timeout_ms: MINUTE })
  chat.run(chat.adds('model', 'A'))
  chat.wait(MINUTE).run({ type: 'expire_review', review_id: 'review-1' })
  chat.answer()
  chat.run({ type: 'reopen_review', review_id: 'review-1', new_review_id: 'review-2' })
  // A call meanwhile is no work on the plan.
  chat.answer()
  chat.run(chat.confirms([{ title: 'A', status: 'doing' }], { review_id: 'review-2' }))
  chat.wait(3 * MINUTE)
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([0, false])
  chat.answer()
  chat.wait(MINUTE)
  expect([minutes(chat, 1), isWorking(chat)]).toEqual([1, true])
})
