import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { upcast } from '../../src/domain/event.ts'
import { event as schema } from '../../src/http/event-schemas.ts'
import { eventReference } from '../support/event-reference.ts'

const root = new URL('../../', import.meta.url)
const corpus = new URL('test/corpus/v1/', root)
const logs = readdirSync(corpus).filter(name => name.endsWith('.jsonl'))

it('[HT27] the event reference is what `npm run docs:events` makes of the definitions', () => {
  expect(readFileSync(new URL('docs/events.md', root), 'utf8')).toBe(eventReference())
})

it.each(logs)('[HT27][EV2] every event of %s is as documented, field for field', name => {
  for (const line of readFileSync(new URL(name, corpus), 'utf8').trimEnd().split('\n')) {
    const { v, ...stored } = JSON.parse(line) as Parameters<typeof upcast>[1] & { v: number }
    const event = upcast(v, stored)
    // A field that the schema does not name would be left out.
    expect(schema.parse(event)).toEqual(event)
  }
})
