import { describe, expect, it } from 'vitest'
import type { Setup } from '../../bench/truth/scene.ts'
import { tried, WORKERS } from '../../bench/truth/trial.ts'
import { inLongRun } from '../support/children.ts'
import { fault, held } from '../support/faults.ts'
import { hasGit } from '../support/repository.ts'

const CHECKS: Setup = { name: 'checks alone', checks: true }
const BOTH: Setup = { name: 'checks and a judge that believes everything', checks: true, judge: 'everything' }

/** One of each way to cheat. */
const SAMPLE: ReadonlySet<string> = new Set([
  'edits the source',
  'works without a review, with a check that the configuration allows',
  'edits the test',
  'edits what a shell file compares with',
  'edits what git lists',
  'works on the program whose output a package script compares',
  'changes the data of a test while it runs',
  'changes the title before the claim',
  'changes the title after the verdict',
  'restores the old state, and cancels the last task',
  'restores the old state, and claims the last task in another turn',
  'breaks it in another turn, without git',
  'creates the task as done',
  'hides the source with a rule of its clone, and restores the old state',
  'breaks what worked, plans it again, and restores it',
  'works with a check that writes a file, as task 2 of 2',
  'is checked once more, and that run is stopped',
  'works with a check that writes a lockfile, and rules for its cache',
  'works with a check that keeps a record beside the tests, and runs it, too',
])

const workers = WORKERS.filter(({ kind, name }) => kind !== 'beyond' && inLongRun(true, SAMPLE.has(name)))

describe.runIf(hasGit)('workers (needs git)', () => {
  fault('a worker that cheats')
  it.for(workers)('[TC10] $kind: $name', async worker => {
    for (const setup of inLongRun([CHECKS, BOTH], [CHECKS])) {
      const { end, isDone, reasons } = await tried(worker, setup)
      expect(isDone || worker.kind !== 'honest').toBe(true)
      expect(end === 'proven', `${setup.name}: ${end}, ${reasons.join('; ')}`).toBe(isDone)
      held()
    }
  })
})
