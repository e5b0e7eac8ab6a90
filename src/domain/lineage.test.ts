import { expect, it } from 'vitest'
import { openInPlan } from './lineage.ts'
import { outside } from '../../test/support/domain.ts'

it('the open tasks of a plan are found without a walk through the list, which may have 25,000', () => {
  const chat = outside()
  chat.run(chat.adds('model', 'Look', 'Write'))
  const { tasks, ...state } = chat.state
  const walked = new Proxy(tasks.toRecord(), { ownKeys: () => expect.unreachable('walks the list') })
  expect(openInPlan({ ...state, tasks: walked }, 'turn-1').map(({ title }) => title)).toEqual(['Look', 'Write'])
})
