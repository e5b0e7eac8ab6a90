import { writeFileSync } from 'node:fs'
import { eventReference } from '../test/support/event-reference.ts'

/** Writes docs/events.md from the definitions of the events. */
writeFileSync(new URL('../docs/events.md', import.meta.url), eventReference())
