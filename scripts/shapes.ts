import { writeFileSync } from 'node:fs'
import { shapes } from '../test/support/shapes.ts'

/** Writes src/http/shapes.json from the types of events and answers. */
writeFileSync(new URL('../src/http/shapes.json', import.meta.url), JSON.stringify(shapes()))
