import { expect, it } from 'vitest'
import { inRun, type Driver } from '../../../../test/support/domain.ts'
import { liveState } from '../../../client/live.ts'
import { listed } from '../../../core/model/conversation.ts'
import { view } from '../../../core/views/view.ts'
import { isUnseen } from './use-tasks.ts'

/** The numbers of the tasks that are marked. */
function unseenIn({ state, log }: Driver): number[] {
  const live = liveState(
    { conversation: state, view: view.of(log) },
    { status: 'live', text: null, output: null, error: null },
  )
  return listed(live.conversation).flatMap(task => (isUnseen(live, task) ? task.number : []))
}

it('marks what a person added or changed until the agent gets an answer', () => {
  const chat = inRun()
  chat.run(chat.adds('model', 'A', 'B', 'C'))
  expect(unseenIn(chat)).toEqual([])
  chat.run(chat.sets('person', 2, { title: 'B 2' }))
  chat.run(chat.adds('person', 'D'))
  chat.run(chat.sets('model', 1, { title: 'A 2' }))
  expect(unseenIn(chat)).toEqual([2, 4])
  chat.answer()
  expect(unseenIn(chat)).toEqual([])
  chat.run(chat.sets('person', 4, { title: 'D 2' }))
  expect(unseenIn(chat)).toEqual([4])
})

it('does not mark what is again as the agent last saw it', () => {
  const chat = inRun()
  chat.run(chat.adds('model', 'A', 'B'))
  chat.answer()
  chat.run(chat.sets('person', 2, { status: 'cancelled' }))
  expect(unseenIn(chat)).toEqual([2])
  chat.run(chat.sets('person', 2, { status: 'pending' }))
  expect(unseenIn(chat)).toEqual([])
  chat.run(chat.sets('person', 2, { title: 'B 2', tags: ['x'] }))
  chat.run(chat.sets('person', 2, { title: 'B', details: '' }))
  expect(unseenIn(chat)).toEqual([2])
  chat.run(chat.sets('person', 2, { tags: [] }))
  expect(unseenIn(chat)).toEqual([])
  // What it has seen meanwhile is what counts.
  chat.run(chat.sets('person', 2, { title: 'B 3' }))
  chat.answer()
  chat.run(chat.sets('person', 2, { title: 'B' }))
  expect(unseenIn(chat)).toEqual([2])
})
