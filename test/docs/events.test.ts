import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parserOf, shape } from '../../src/server/http/openapi.ts'
import { CORPUS, corpusLog } from '../support/corpus.ts'
import { eventReference } from '../support/event-reference.ts'

const root = new URL('../../', import.meta.url)
const EVENT = parserOf(shape('Event'))

it('[HT27] the event reference is what `npm run docs:events` makes of the definitions', () => {
  expect(readFileSync(new URL('docs/events.md', root), 'utf8')).toBe(eventReference())
})

it.each(CORPUS)('[HT27][EV2] every event of %s is as documented, field for field', name => {
  for (const event of corpusLog(name)) expect(EVENT.parse(event)).toEqual(event)
})
