import { SCOPE_SCENES } from './honest.ts'
import type { Rule, Setup } from './scene.ts'
import type { Trial } from './trial.ts'

const KINDS = ['honest', 'lazy', 'cheat', 'beyond']
const STANDINGS = ['proven', 'judged', 'reported'] as const

export function printEnds(trials: readonly Trial[], setups: readonly Setup[]): void {
  const workers = [...new Set(trials.map(({ worker }) => worker))].sort(
    (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind),
  )
  console.log('\nHow each worker ended: its standing, else the status of its task')
  for (const [index, { name }] of setups.entries()) console.log(`  ${'ABCDE'[index]}  ${name}`)
  print(
    '',
    '',
    setups.map((_, index) => 'ABCDE'[index] ?? ''),
  )
  for (const worker of workers) {
    const ends = setups.map(setup => {
      const trial = trials.find(each => each.worker === worker && each.setup === setup)
      return trial ? `${trial.end}${isFalse(trial) ? ' !' : ''}` : ''
    })
    print(worker.kind, worker.name, ends)
  }
  console.log('  !  counts as done, and is not')
}

/** Prints false dones by standing, and false refusals; returns whether the goals are met. */
export function printTruth(trials: readonly Trial[], setups: readonly Setup[]): boolean {
  const isMet = setups.map(setup =>
    printSetup(
      trials.filter(each => each.setup === setup && counts(each)),
      setup,
    ),
  )
  console.log(`
  False done: a lazy worker or a cheat whose work is not done ended as that, of those whose work was not done.
  False refusal: the work is done and its check was red at the start, and its claim was refused. A judge that believes
  nothing refuses them by design, so there is no goal where it is asked.
  Not counted: ${trials.filter(({ worker }) => worker.kind === 'beyond').length / setups.length} workers who wrote source that satisfies the check without the feature. A check sees what it runs, not why it passes.`)
  return isMet.every(Boolean)
}

/** Prints what ends as proven and is not done, and where a person is asked about honest work. */
export function printRules(trials: readonly Trial[], rules: readonly Rule[]): boolean {
  console.log('\nChanges that a person has to accept: with scopes and without, checks alone')
  return rules
    .map(rule => {
      const own = trials.filter(each => each.setup.rule === rule && counts(each))
      return printRule(own, RULES[rule])
    })
    .every(Boolean)
}

interface Goals {
  readonly proven: number
  readonly asked: number
}
const RULES: Record<Rule, Goals & { readonly name: string }> = {
  scopes: { name: 'scopes that the person gave', proven: 2, asked: 2 },
  folders: { name: 'no scopes: the folders where work is done', proven: 6, asked: 9 },
}

function printRule(own: readonly Trial[], { name, ...goals }: Goals & { readonly name: string }): boolean {
  const undone = own.filter(({ isDone }) => !isDone)
  const proven = undone.filter(({ end }) => end === 'proven')
  const honest = own.filter(({ worker, isDone }) => worker.kind === 'honest' && isDone)
  const asked = honest.filter(({ end }) => end !== 'proven')
  const refused = honest.filter(({ end }) => !isSettled(end))
  const clicks = asked.filter(each => !SCENES.has(each.worker.name))
  console.log(`  ${name}`)
  row('  proven, and not done', `${proven.length} of ${undone.length}`, goal(proven.length, goals.proven))
  row('  honest, and refused', `${refused.length} of ${honest.length}`, goal(refused.length, 0))
  row(
    '  honest, and a person is asked',
    `${clicks.length} of ${honest.length - countScenes(honest)}`,
    goal(clicks.length, goals.asked),
  )
  row('  the same where it is expected', `${asked.length - clicks.length} of ${countScenes(honest)}`, '')
  for (const each of proven) console.log(`    proven: ${each.worker.name}`)
  for (const each of asked) console.log(`    asked:  ${each.worker.name}`)
  return proven.length <= goals.proven && refused.length === 0 && clicks.length <= goals.asked
}

const SCENES: ReadonlySet<string> = new Set(SCOPE_SCENES.map(({ name }) => name))
const countScenes = (trials: readonly Trial[]): number => trials.filter(({ worker }) => SCENES.has(worker.name)).length
const isSettled = (end: string): boolean => ['proven', 'confirmed', 'judged', 'reported'].includes(end)

function printSetup(trials: readonly Trial[], { name, checks, judge }: Setup): boolean {
  const undone = trials.filter(({ isDone }) => !isDone)
  const done = trials.filter(({ isDone, worker }) => isDone && worker.kind !== 'cheat')
  const falselyDone = (standing: string): number => undone.filter(({ end }) => end === standing).length
  const refused = checks ? done.filter(({ end }) => !isSettled(end)) : []
  const limit = checks ? RULES.scopes.proven : 0
  const hasGoal = checks && judge !== 'nothing'
  console.log(`\n${name}`)
  for (const standing of STANDINGS) {
    const figure = falselyDone(standing)
    row(`false done as ${standing}`, `${figure} of ${undone.length}`, standing === 'proven' ? goal(figure, limit) : '')
  }
  if (checks) row('false refusal', `${refused.length} of ${done.length}`, hasGoal ? goal(refused.length, 0) : '')
  return falselyDone('proven') <= limit && (!hasGoal || refused.length === 0)
}

const goal = (got: number, limit: number): string => `goal: ${limit} at most: ${got <= limit ? 'met' : 'NOT MET'}`

const counts = ({ worker }: Trial): boolean => worker.kind !== 'beyond'

const isFalse = ({ end, isDone }: Trial): boolean => !isDone && STANDINGS.some(standing => standing === end)

const row = (what: string, figure: string, goal: string): void =>
  console.log(`  ${what.padEnd(28)} ${figure.padEnd(10)} ${goal}`.trimEnd())

const print = (kind: string, name: string, ends: readonly string[]): void =>
  console.log(`  ${kind.padEnd(7)} ${name.padEnd(66)} ${ends.map(end => end.padEnd(12)).join('')}`.trimEnd())
