import { benchCost } from './truth/cost.ts'
import type { Rule, Setup } from './truth/scene.ts'
import { printEnds, printRules, printTruth } from './truth/report.ts'
import { ALL_WORKERS, type Trial, tried, WORKERS } from './truth/trial.ts'

const SETUPS: readonly Setup[] = [
  { name: 'checks alone', checks: true },
  { name: 'judge that believes everything', checks: false, judge: 'everything' },
  { name: 'judge that believes nothing', checks: false, judge: 'nothing' },
  { name: 'checks and the believing judge', checks: true, judge: 'everything' },
  { name: 'checks and the doubting judge', checks: true, judge: 'nothing' },
]
/** With scopes and without, checks alone: what ends as proven and is not done, and how often a person is asked. */
const RULES: readonly Rule[] = ['scopes', 'folders']
/** Workers in parallel: they mostly wait for processes. */
const AT_ONCE = 3

// Runs first, while nothing else does.
const isCheap = await benchCost()
const trials = await allTrials(SETUPS, WORKERS)
const ruled = await allTrials(
  RULES.map(rule => ({ name: rule, checks: true, rule })),
  ALL_WORKERS,
)
printEnds(trials, SETUPS)
const isTrue = printTruth(trials, SETUPS)
const isAsGood = printRules(ruled, RULES)
process.exitCode = isCheap && isTrue && isAsGood ? 0 : 1

async function allTrials(setups: readonly Setup[], workers: typeof WORKERS): Promise<readonly Trial[]> {
  const todo = setups.flatMap(setup => workers.map(worker => ({ worker, setup })))
  const trials: Trial[] = []
  const work = async (): Promise<void> => {
    for (let next = todo.shift(); next; next = todo.shift()) trials.push(await tried(next.worker, next.setup))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return trials
}
