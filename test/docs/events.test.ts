import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { upcast } from '../../src/domain/event.ts'
import { parserOf, shape } from '../../src/http/shapes.ts'
import { eventReference } from '../support/event-reference.ts'
import { shapes } from '../support/shapes.ts'

const root = new URL('../../', import.meta.url)
const corpus = new URL('test/corpus/v1/', root)
const EVENT = parserOf(shape('Event'))
const logs = readdirSync(corpus).filter(name => name.endsWith('.jsonl'))

it('[HT27] the schemas of events and answers are what `npm run docs:shapes` makes of the types', () => {
  expect(JSON.parse(readFileSync(new URL('src/http/shapes.json', root), 'utf8'))).toEqual(shapes())
}, 60_000)

it('[HT27] the event reference is what `npm run docs:events` makes of the definitions', () => {
  expect(readFileSync(new URL('docs/events.md', root), 'utf8')).toBe(eventReference())
})

it.each(logs)('[HT27][EV2] every event of %s is as documented, field for field', name => {
  for (const line of readFileSync(new URL(name, corpus), 'utf8').trimEnd().split('\n')) {
    const { v, ...stored } = JSON.parse(line) as Parameters<typeof upcast>[1] & { v: number }
    const event = upcast(v, stored)
    expect(EVENT.parse(event)).toEqual(event)
  }
})
