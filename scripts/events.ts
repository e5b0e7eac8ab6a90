import { writeFileSync } from 'node:fs'
import { eventReference } from '../test/support/event-reference.ts'

writeFileSync(new URL('../docs/events.md', import.meta.url), eventReference())
