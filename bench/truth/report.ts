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
  False refusal: the work is done and its check was red at the start, and it did not end as proven. A judge that believes
  nothing refuses them by design, so there is no goal where it is asked.
  Not counted: ${trials.filter(({ worker }) => worker.kind === 'beyond').length / setups.length} workers who wrote source that satisfies the check without the feature. A check sees what it runs, not why it passes.`)
  return isMet.every(Boolean)
}

/** Prints what each rule proves although it is not done, and where it asks a person about honest work. */
export function printRules(trials: readonly Trial[], rules: readonly Rule[]): void {
  console.log('\nWhich changes have to be accepted: the inference of guarded files beside scopes, checks alone')
  for (const rule of rules) {
    const own = trials.filter(({ setup, worker }) => setup.rule === rule && worker.kind !== 'beyond')
    const undone = own.filter(({ isDone }) => !isDone)
    const proven = undone.filter(({ end }) => end === 'proven')
    const honest = own.filter(({ worker, isDone }) => worker.kind === 'honest' && isDone)
    const asked = honest.filter(({ end }) => end !== 'proven')
    const expected = asked.filter(({ worker }) => (rule === 'inference' ? false : (worker.clicks?.[rule] ?? 0) > 0))
    row(RULE[rule], '', '')
    row('  proven, and not done', `${proven.length} of ${undone.length}`, '')
    row('  honest, and a person is asked', `${asked.length} of ${honest.length}`, `expected there: ${expected.length}`)
    for (const { worker } of proven) console.log(`    proven: ${worker.name}`)
    for (const { worker } of asked) console.log(`    asked:  ${worker.name}`)
  }
}

const RULE: Record<Rule, string> = {
  inference: 'inference',
  scopes: 'scopes of the person',
  folders: 'no scopes: the folders where work is done',
}

function printSetup(trials: readonly Trial[], { name, checks, judge }: Setup): boolean {
  const undone = trials.filter(({ isDone }) => !isDone)
  const done = trials.filter(({ isDone, worker }) => isDone && worker.kind !== 'cheat')
  const falselyDone = (standing: string): number => undone.filter(({ end }) => end === standing).length
  const refused = checks ? done.filter(({ end }) => end !== 'proven') : []
  const hasGoal = checks && judge !== 'nothing'
  const isMet = falselyDone('proven') === 0 && (!hasGoal || refused.length === 0)
  console.log(`\n${name}`)
  for (const standing of STANDINGS) {
    const goal = standing === 'proven' ? `goal: 0: ${falselyDone(standing) === 0 ? 'met' : 'NOT MET'}` : ''
    row(`false done as ${standing}`, `${falselyDone(standing)} of ${undone.length}`, goal)
  }
  if (checks) {
    const goal = hasGoal ? `goal: 0: ${refused.length === 0 ? 'met' : 'NOT MET'}` : ''
    row('false refusal', `${refused.length} of ${done.length}`, goal)
  }
  return isMet
}

const counts = ({ worker }: Trial): boolean => worker.kind !== 'beyond'

const isFalse = ({ end, isDone }: Trial): boolean => !isDone && STANDINGS.some(standing => standing === end)

const row = (what: string, figure: string, goal: string): void =>
  console.log(`  ${what.padEnd(28)} ${figure.padEnd(10)} ${goal}`.trimEnd())

const print = (kind: string, name: string, ends: readonly string[]): void =>
  console.log(`  ${kind.padEnd(7)} ${name.padEnd(66)} ${ends.map(end => end.padEnd(12)).join('')}`.trimEnd())
