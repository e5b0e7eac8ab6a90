import { expect, it } from 'vitest'
import { corpusLog } from '../../../test/support/corpus.ts'
import { apply, emptyConversation, fold } from './conversation.ts'
import { eventProblem, renamedLog } from './log.ts'

const log = corpusLog('steered')
const [first, second, ...rest] = log
if (!first || !second) throw new TypeError('The log is too short.')
const state = fold(emptyConversation(first.session_id), [first])

it.each([
  ['a seq is missing', rest[0] ?? first, /^seq is 3, expected 2$/],
  ['a seq comes twice', first, /^seq is 1/],
  ['it is of another conversation', { ...second, session_id: 'x' }, /^session_id is not/],
  ['time goes back', { ...second, timestamp: '1999' }, /^timestamp is before/],
] as const)('[BK7] %s: it cannot be the next event', (_, event, why) => {
  expect(eventProblem(state, event)).toMatch(why)
})

it('[BK7][TU13] a log with messages that wait is imported under another id, and they wait there as well', () => {
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
