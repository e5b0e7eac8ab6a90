import { rmSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { scratchFolder } from '../../test/support/scratch.ts'
import { bareSqlite } from '../sqlite.ts'
import { median, millis } from '../table.ts'
import { Scene } from './scene.ts'
import { PROJECT } from './worker.ts'

const PLANS = 11
const CLAIMS = 19
const GOAL_MS = 2

interface Costs {
  readonly whole: number[]
  /** The check's run, including the workspace survey before it. */
  readonly run: number[]
  readonly beyond: number[]
  /** CPU time of the process's main thread, independent of other load. */
  readonly cpu: number[]
  readonly commit: number[]
}

/** Cost of a claim beyond its check; returns whether the goal is met. */
export async function benchCost(): Promise<boolean> {
  const costs: Costs = { whole: [], run: [], beyond: [], cpu: [], commit: [] }
  const inMemory: Costs = { whole: [], run: [], beyond: [], cpu: [], commit: [] }
  const folder = scratchFolder()
  const bare = await bareSqlite(join(folder, 'bare.db'))
  for (let plan = 0; plan < PLANS; plan += 1) {
    await claimAll(costs, () => bare.transact(1))
    await claimAll(inMemory)
  }
  bare.close()
  rmSync(folder, { recursive: true })
  const isMet = median(costs.beyond) < GOAL_MS
  console.log(
    `\nOne claim without a model: ${costs.whole.length} claims of tasks with one approved \`file\` check, SQLite`,
  )
  const show = (what: string, values: readonly number[], more = ''): void =>
    console.log(
      `  ${what.padEnd(62)} ${millis(median(values)).padStart(8)} ${millis(p95(values)).padStart(8)}  ${more}`,
    )
  console.log(`  ${''.padEnd(62)} ${'median'.padStart(8)} ${'p95'.padStart(8)}`)
  show('the call, from beginning to answer', costs.whole)
  show('of that the run: fingerprint, changes, the check itself', costs.run)
  show(
    'beyond the run: 2 commits, under a lease that is kept',
    costs.beyond,
    `goal: median under ${GOAL_MS} ms: ${isMet ? 'met' : 'NOT MET'}`,
  )
  show('the same without a disk: on the memory store', inMemory.beyond)
  show('CPU time of the main thread, with its part of the run', costs.cpu)
  show('a bare commit of one event, beside it', costs.commit)
  const load = (loadavg()[0] ?? 0).toFixed(1)
  const commits = (median(costs.beyond) / median(costs.commit)).toFixed(1)
  console.log(`  Beyond the run a claim took ${commits} bare commits. Load ${load} on ${availableParallelism()} cores.`)
  return isMet
}

const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN

/** Uses SQLite with a bare commit after each claim, or memory without `commit`. */
async function claimAll(costs: Costs, commit?: () => void): Promise<void> {
  const scene = await Scene.open({ name: 'cost', checks: true, files: PROJECT, inMemory: commit === undefined })
  try {
    const paths = Array.from({ length: CLAIMS }, (_, index) => `docs/${index}.md`)
    const rows = paths.map(path => ({ title: `Write ${path}`, checks: [{ kind: 'file', path } as const] }))
    // One task stays open, because the claim that ends a plan also makes a final pass.
    await scene.plan(...rows, { title: 'Stay' })
    for (const path of paths) scene.write(path, 'Written.')
    for (let number = 1; number <= CLAIMS; number += 1) {
      const [runsBefore, cpu, start] = [scene.runs.length, process.threadCpuUsage(), performance.now()]
      await scene.claim(number)
      const whole = performance.now() - start
      const { user, system } = process.threadCpuUsage(cpu)
      const run = scene.runs.slice(runsBefore).reduce((sum, ms) => sum + ms, 0)
      const committed = performance.now()
      commit?.()
      costs.commit.push(performance.now() - committed)
      costs.whole.push(whole)
      costs.run.push(run)
      costs.beyond.push(whole - run)
      costs.cpu.push((user + system) / 1_000)
    }
  } finally {
    await scene.close()
  }
}
