import { expect, it } from 'vitest'
import { inRun } from '../../test/support/domain.ts'
import { taskPage, type TaskFilter } from './cursor.ts'

it('tasks are listed in list order, by turn and status, page by page, without removed ones', () => {
  const chat = inRun()
  chat.run(chat.adds('model', 'a', 'b', 'c'))
  chat.run(chat.sets('person', 3, { position: 1 }))
  chat.run(chat.removes('person', 2))
  chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'done' }))
  chat.finish('turn-1')
  chat.start('turn-2', {}, 'turn-1')
  chat.run(chat.adds('model', 'd'))
  chat.finish('turn-2')
  chat.start('turn-3')
  chat.run(chat.adds('model', 'e'))
  const page = (filter: TaskFilter, limit = 10, cursor?: string) => taskPage(chat.state, filter, { limit, cursor })
  const titles = (filter: TaskFilter): string[] => page(filter).items.map(({ title }) => title)
  expect(titles({})).toEqual(['c', 'a', 'd', 'e'])
  // What a turn worked from, also where an earlier or a later one did so, too.
  expect(titles({ turn: 'turn-1' })).toEqual(['c', 'a'])
  expect(titles({ turn: 'turn-2' })).toEqual(['c', 'a', 'd'])
  expect(titles({ turn: 'turn-3' })).toEqual(['e'])
  expect(titles({ turn: 'turn-2', status: 'completed' })).toEqual(['a'])
  const { next_cursor } = page({}, 3)
  expect(page({}, 3, next_cursor ?? '').items.map(({ title }) => title)).toEqual(['e'])
})
