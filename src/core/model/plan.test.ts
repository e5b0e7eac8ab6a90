import { expect, it } from 'vitest'
import { approved, FILE, NPM, Plan } from '../../../test/support/checked-plan.ts'
import { Driver, inRun } from '../../../test/support/domain.ts'
import { isPlanOver } from './conversation.ts'
import { checkedOf, openOf, planOf, turnOf } from './plan.ts'

const titles = (tasks: readonly { readonly title: string }[]): string[] => tasks.map(({ title }) => title)

it('[PL1] open tasks, and those with checks, come in list order', () => {
  const plan = new Plan(approved('A', NPM), approved('B', FILE), { title: 'C' })
  plan.run(plan.edits('person', { change: [{ task: 3, fields: { position: 1 } }] }))
  // Back again, A is the last one that became so.
  for (const status of ['cancelled', 'pending'] as const) plan.run(plan.sets('person', 1, { status }))
  for (const checks of [[], [NPM]]) plan.run(plan.edits('person', { change: [{ task: 1, fields: { checks } }] }))
  const own = planOf(plan.state, 'turn-1')
  expect(titles(openOf(plan.state, own))).toEqual(['C', 'A', 'B'])
  expect(titles(checkedOf(plan.state, own))).toEqual(['A', 'B'])
})

it('a plan of which every task is cancelled or blocked is over; one that has none is not', () => {
  for (const status of ['cancelled', 'blocked', 'completed'] as const) {
    const chat = inRun()
    expect(isPlanOver(chat.state, 'turn-1')).toBe(false)
    chat.run(chat.adds('model', 'A'))
    expect(isPlanOver(chat.state, 'turn-1')).toBe(false)
    chat.run(chat.sets('person', 1, { status }))
    expect(isPlanOver(chat.state, 'turn-1')).toBe(true)
  }
})

it('a settled task is of the turn that last worked on it, an open one of the last turn of its plan', () => {
  const chat = inRun()
  const turns = (): string[] => [1, 2].map(number => turnOf(chat.state, chat.task(number)))
  chat.run(chat.adds('model', 'A', 'B'))
  chat.run(chat.sets('person', 1, { status: 'completed' }))
  chat.finish('turn-1')
  chat.wait(1_000)
  chat.start('turn-2', {}, 'turn-1')
  expect(turns()).toEqual(['turn-1', 'turn-2'])
  chat.run(chat.sets('person', 2, { status: 'completed' }))
  chat.finish('turn-2')
  chat.wait(1_000)
  chat.start('turn-3', {}, 'turn-1')
  expect(turns()).toEqual(['turn-1', 'turn-2'])
})

it('[PL2] a task that joins another plan keeps the files that it was confirmed with, however often it moves', () => {
  const plan = new Plan(approved('A', NPM))
  plan.runs('failed')
  plan.run({ type: 'open_turn', turn_id: 'turn-2', plans: true })
  plan.run(plan.edits('person', { create: [{ id: plan.id(), title: 'B' }], turn_id: 'turn-2' }))
  const { id } = plan.task(1)
  const where = () => [plan.task(1).plan_id, plan.state.proof.get(id)?.confirmed_in]
  expect(where()).toEqual(['turn-1', undefined])
  plan.run({ type: 'open_turn', turn_id: 'turn-3' })
  expect(where()).toEqual(['turn-2', 'turn-1'])
  plan.run({ type: 'open_turn', turn_id: 'turn-4', plans: true })
  plan.run(plan.edits('person', { create: [{ id: plan.id(), title: 'C' }], turn_id: 'turn-4' }))
  plan.run({ type: 'open_turn', turn_id: 'turn-5' })
  expect(where()).toEqual(['turn-4', 'turn-1'])
  expect(plan.state.proof.get(id)?.approved).toEqual([NPM.hash])
})

it('[PL7] a turn elsewhere whose plan was emptied or taken keeps it, and takes what is open into it', () => {
  for (const isTaken of [false, true]) {
    const chat = new Driver()
    chat.run({ type: 'open_turn', turn_id: 'turn-1', plans: true, host: { review: false } })
    chat.run(chat.edits('person', { create: [{ id: chat.id(), title: 'A' }], turn_id: 'turn-1' }))
    chat.run({ type: 'open_turn', turn_id: 'turn-2', plans: true })
    chat.run(chat.edits('person', { create: [{ id: chat.id(), title: 'B' }], turn_id: 'turn-2' }))
    if (isTaken) chat.run({ type: 'open_turn', turn_id: 'turn-3' })
    else chat.run(chat.removes('person', 1))
    expect(chat.titles('turn-1')).toEqual([])
    chat.run({ type: 'open_turn', turn_id: 'turn-1' })
    expect(planOf(chat.state, 'turn-1')).toMatchObject({ id: 'turn-1', turns: ['turn-1'] })
    expect(chat.titles('turn-1')).toEqual(isTaken ? ['A', 'B'] : ['B'])
  }
})
