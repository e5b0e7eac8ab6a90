import { benchCost } from './truth/cost.ts'
import type { Setup } from './truth/scene.ts'
import { printEnds, printTruth } from './truth/report.ts'
import { type Trial, tried, WORKERS } from './truth/trial.ts'

const SETUPS: readonly Setup[] = [
  { name: 'checks alone', checks: true },
  { name: 'judge that believes everything', checks: false, judge: 'everything' },
  { name: 'judge that believes nothing', checks: false, judge: 'nothing' },
  { name: 'checks and the believing judge', checks: true, judge: 'everything' },
  { name: 'checks and the doubting judge', checks: true, judge: 'nothing' },
]
/** Workers at work at once: they mostly wait for processes. */
const AT_ONCE = 3

// First, while nothing else runs here.
const isCheap = await benchCost()
const trials = await allTrials()
printEnds(trials, SETUPS)
const isTrue = printTruth(trials, SETUPS)
process.exitCode = isCheap && isTrue ? 0 : 1

async function allTrials(): Promise<readonly Trial[]> {
  const todo = SETUPS.flatMap(setup => WORKERS.map(worker => ({ worker, setup })))
  const trials: Trial[] = []
  const work = async (): Promise<void> => {
    for (let next = todo.shift(); next; next = todo.shift()) trials.push(await tried(next.worker, next.setup))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return trials
}
