import { expect, it } from 'vitest'
import { inRun, outside } from '../../../../test/support/domain.ts'
import { listed, tasksInView } from '../../../core/model/conversation.ts'
import type { LimitedTurns } from '../../../core/views/view.ts'
import { tasksAt } from '../../../core/model/plan.ts'
import { snapshotOf } from '../../../core/model/snapshot.ts'
import { countTasks } from '../../../core/views/tally.ts'
import { currentTaskOf, isAgentWorking, isEnded, mostRelevant, unfinishedTurn } from './progress.ts'

const limited = (...turns: readonly string[]): LimitedTurns => ({ turns, max_steps: null })

it('counts what is done, left, blocked and cancelled', () => {
  const chat = outside()
  chat.run(chat.adds('model', 'A', 'B', 'C', 'D', 'E'))
  chat.run(chat.sets('person', 1, { status: 'completed' }))
  chat.run(chat.sets('person', 2, { status: 'cancelled' }))
  chat.run(chat.sets('person', 3, { status: 'blocked' }))
  expect(countTasks(listed(chat.state))).toEqual({ done: 1, total: 5, open: 2, blocked: 1, disputed: 0, cancelled: 1 })
})

it('the current task is that of the latest plan', () => {
  const chat = outside()
  chat.run(chat.adds('model', 'A', 'B'))
  expect(currentTaskOf(snapshotOf(chat.state), listed(chat.state))?.title).toBe('A')
  expect(currentTaskOf(snapshotOf(chat.state), [])).toBeUndefined()
})

it('the agent works until its turn is over or is to be stopped', () => {
  const chat = inRun()
  expect(isAgentWorking(snapshotOf(chat.state))).toBe(true)
  chat.finish('turn-1')
  expect(isAgentWorking(snapshotOf(chat.state))).toBe(false)
})

it('a turn that ended with tasks open is unfinished, and says whether a limit ended it', () => {
  const chat = inRun()
  chat.run(chat.adds('model', 'A', 'B'))
  expect(unfinishedTurn(snapshotOf(chat.state), limited())).toBeUndefined()
  chat.finish('turn-1')
  expect(unfinishedTurn(snapshotOf(chat.state), limited())).toEqual({
    turnId: 'turn-1',
    count: 2,
    isLimited: false,
    hasFailed: false,
  })
  expect(unfinishedTurn(snapshotOf(chat.state), limited('turn-1'))).toMatchObject({ isLimited: true })
})

it('items for a person are no unfinished work', () => {
  const chat = inRun({ toolset: 'checklist' })
  chat.run(chat.adds('model', 'Buy milk'))
  chat.finish('turn-1')
  expect(unfinishedTurn(snapshotOf(chat.state), limited())).toBeUndefined()
})

it('a plan is ended once its latest turn is over, if no other plan is in view', () => {
  const chat = inRun()
  const ended = (): boolean => isEnded(snapshotOf(chat.state), listed(chat.state))
  chat.run(chat.adds('model', 'A'))
  expect(ended()).toBe(false)
  chat.wait(1).finish('turn-1')
  expect(ended()).toBe(true)
  chat.wait(1).start('turn-2', {}, 'turn-1')
  chat.wait(1).finish('turn-2')
  expect(ended()).toBe(true)
  chat.wait(1).start('turn-3')
  chat.run(chat.adds('model', 'B'))
  chat.wait(1).finish('turn-3')
  expect(ended()).toBe(false)
})

it('a long list shows open and blocked tasks before finished ones, in list order', () => {
  const chat = outside()
  chat.run(chat.adds('model', 'A', 'B', 'C', 'D', 'E'))
  for (const number of [1, 2, 4]) chat.run(chat.sets('person', number, { status: 'completed' }))
  const shown = (limit: number): string[] => mostRelevant(listed(chat.state), limit).map(({ title }) => title)
  expect(shown(3)).toEqual(['C', 'D', 'E'])
  expect(shown(1)).toEqual(['C'])
  expect(shown(9)).toEqual(['A', 'B', 'C', 'D', 'E'])
})

it('a continued plan counts what the turns before it settled, in every toolset', () => {
  for (const toolset of ['turn_todos', 'runsheet'] as const) {
    const chat = inRun({ toolset })
    chat.run(chat.adds('person', 'A', 'B', 'C'))
    chat.run(chat.sets('person', 1, { status: 'completed' }))
    chat.finish('turn-1')
    chat.start('turn-2', {}, 'turn-1')
    chat.run(chat.sets('person', 2, { status: 'completed' }))
    chat.finish('turn-2')
    chat.start('turn-3', {}, 'turn-2')
    expect(countTasks(tasksInView(chat.state))).toMatchObject({ done: 2, total: 3, open: 1 })
  }
})

it('a turn that continues none shows its own plan only', () => {
  const chat = inRun({ toolset: 'turn_todos' })
  chat.run(chat.adds('person', 'A'))
  chat.finish('turn-1')
  chat.start('turn-2')
  expect(tasksInView(chat.state)).toEqual([])
})

it('a plan is listed under each turn that worked from it', () => {
  const chat = inRun()
  chat.run(chat.adds('person', 'A', 'B'))
  chat.run(chat.sets('person', 1, { status: 'completed' }))
  chat.finish('turn-1')
  chat.start('turn-2', {}, 'turn-1')
  chat.run(chat.adds('person', 'C'))
  chat.finish('turn-2')
  chat.start('turn-3')
  const titles = (turn: string): string[] => tasksAt(chat.state, turn).map(({ title }) => title)
  expect([titles('turn-1'), titles('turn-2'), titles('turn-3')]).toEqual([['A', 'B'], ['A', 'B', 'C'], []])
})
