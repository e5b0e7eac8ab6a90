import { readdirSync, readFileSync } from 'node:fs'
import { EVENT_VERSION, type StoredEvent } from '../../src/core/model/event.ts'

const folder = new URL(`../corpus/v${EVENT_VERSION}/`, import.meta.url)

/** The names of the logs of the frozen corpus. */
export const CORPUS = readdirSync(folder).flatMap(file => (file.endsWith('.jsonl') ? file.slice(0, -6) : []))

/** A log of the frozen corpus. */
export function corpusLog(name: string): StoredEvent[] {
  const lines = readFileSync(new URL(`${name}.jsonl`, folder), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map(line => {
    const { v, ...event } = JSON.parse(line) as StoredEvent & { v: number }
    if (v !== EVENT_VERSION) throw new Error(`${name} has an event of version ${v}`)
    return event
  })
}

/** The state that a log of the frozen corpus led to. */
export const corpusState = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`${name}.state.json`, folder), 'utf8'))
