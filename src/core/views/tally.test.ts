import { expect, it } from 'vitest'
import { inRun } from '../../../test/support/domain.ts'
import { listed } from '../model/conversation.ts'
import { doneWords, tallyOf } from './tally.ts'
import type { TaskStatus } from '../model/task.ts'

it.each<[string, ...TaskStatus[]]>([
  ["2 of 2 done: 2 on the agent's word", 'completed', 'completed'],
  ["2 of 3 done: 2 on the agent's word; 1 cancelled", 'completed', 'cancelled', 'completed'],
  ["1 of 4 done: 1 on the agent's word; 1 blocked, 1 cancelled", 'completed', 'blocked', 'cancelled', 'pending'],
  ['0 of 2 done; 2 cancelled', 'cancelled', 'cancelled'],
])('a tally counts every step, also those that are cancelled: %s', (words, ...statuses) => {
  const chat = inRun()
  chat.run(chat.adds('model', ...statuses.map((_, at) => `Step ${at + 1}`)))
  for (const [at, status] of statuses.entries()) {
    if (status !== 'pending') chat.run(chat.sets('model', at + 1, { status, outcome: 'So it is.' }))
  }
  const tally = tallyOf(chat.state, listed(chat.state))
  expect(tally && doneWords(tally)).toBe(words)
})
