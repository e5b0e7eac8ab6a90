import { writeFileSync } from 'node:fs'
import { EVENT_VERSION } from '../../src/core/model/event.ts'
import { STORIES } from './corpus-stories.ts'
import { frozen } from './domain.ts'

// Until the first release only: what was released is never written again.
for (const [name, tell] of Object.entries(STORIES)) {
  const { log, state } = tell()
  const at = (ending: string): URL => new URL(`../corpus/v${EVENT_VERSION}/${name}.${ending}`, import.meta.url)
  writeFileSync(at('jsonl'), log.map(event => `${JSON.stringify({ v: EVENT_VERSION, ...event })}\n`).join(''))
  writeFileSync(at('state.json'), `${JSON.stringify(frozen(state), null, 2)}\n`)
}
