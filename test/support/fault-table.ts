import { writeFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'
import { FAULT_ROWS } from './fault-rows.ts'
import type { FaultReport } from './faults.ts'

interface Row {
  readonly name: string
  /** The files that must have tests of it; none where it is not on the list. */
  readonly files: readonly string[]
  readonly tests: TestCase[]
  /** Failures outside of tests: hooks, files that cannot be loaded, workers that died. */
  failures: number
}

type Verdict = 'held' | 'not held' | 'not run' | 'not listed'
type Entity = TestModule | TestSuite | TestCase

const FAULTS = 'test/faults/'

/**
 * Ends a long run with the table of faults, and a line for the whole; `FAULT_TABLE=file.md` writes both to a file as well.
 * The run fails unless every row on the list was run and held.
 */
export default class FaultTable implements Reporter {
  readonly #expected: typeof FAULT_ROWS

  constructor({ rows = FAULT_ROWS }: { readonly rows?: typeof FAULT_ROWS } = {}) {
    this.#expected = rows
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: string): void {
    const rows = rowsOf(modules, this.#expected)
    const table = tableOf([['fault', 'tried', 'held', '', 'counted'], ...rows.map(cells)])
    const problems = problemsOf(rows, errors.length, reason)
    const whole = problems.length === 0 ? `held: all ${rows.length} rows` : `not held: ${problems.join(', ')}`
    process.stdout.write(`\n${table}\n${whole}\n`)
    if (problems.length > 0) process.exitCode = 1
    const file = process.env['FAULT_TABLE']
    if (file) writeFileSync(file, `${table}\n${whole}\n`)
  }
}

/** Why the table as a whole does not hold. */
function problemsOf(rows: readonly Row[], errors: number, reason: string): string[] {
  const verdicts = rows.map(verdictOf)
  const bad = (['not held', 'not run', 'not listed'] as const).map(
    verdict => [verdicts.filter(each => each === verdict).length, `rows ${verdict}`] as const,
  )
  const counts = [...bad, [errors, 'errors outside of tests'] as const].filter(([count]) => count > 0)
  if (counts.length === 0 && reason !== 'passed') return ['tests without a row failed']
  return counts.map(([count, what]) => `${count} ${what}`)
}

/** The rows on the list in its order, then the others. */
function rowsOf(modules: readonly TestModule[], expected: typeof FAULT_ROWS): Row[] {
  const rows = new Map<string, Row>()
  const rowOf = (name: string): Row => {
    const row = rows.get(name) ?? { name, files: expected[name] ?? [], tests: [], failures: 0 }
    rows.set(name, row)
    return row
  }
  for (const name of Object.keys(expected)) rowOf(name)
  for (const module of modules.toSorted((a, b) => a.relativeModuleId.localeCompare(b.relativeModuleId))) {
    for (const entity of [module, ...module.children.allSuites()]) {
      if (entity.errors().length > 0) rowOf(rowName(entity) ?? module.relativeModuleId).failures += 1
    }
    const tests = [...module.children.allTests()]
    const isOver = ['passed', 'failed', 'skipped'].includes(module.state())
    if (!isOver && tests.length === 0) rowOf(rowName(module) ?? module.relativeModuleId).failures += 1
    for (const test of tests) {
      const name = rowName(test)
      if (name !== undefined) rowOf(name).tests.push(test)
    }
  }
  return [...rows.values()]
}

/** The row named nearest to it. Tests of faults without a row of their own are not left out. */
function rowName(entity: Entity): string | undefined {
  const { faultRow } = entity.meta()
  if (faultRow !== undefined) return faultRow
  if (entity.type !== 'module') return rowName(entity.parent)
  return entity.relativeModuleId.startsWith(FAULTS) ? entity.relativeModuleId : undefined
}

function cells(row: Row): string[] {
  const reports = row.tests.flatMap(test => test.meta().fault ?? [])
  const held = heldOf(row.tests)
  const skipped = countOf(row, 'skipped')
  const slowestMs = Math.max(...reports.map(report => report.slowestMs ?? 0))
  const counted = [...sums(reports)].map(([what, sum]) => `${number(sum)} ${what}`)
  if (slowestMs > 0) counted.push(`slowest answer ${(slowestMs / 1_000).toFixed(1)} s`)
  if (skipped > 0) counted.push(`${skipped} skipped`)
  counted.push(...missing(row).map(file => `${file} not run`))
  return [row.name, number(held + failedOf(row)), number(held), verdictOf(row), counted.join(', ')]
}

function verdictOf(row: Row): Verdict {
  if (failedOf(row) > 0) return 'not held'
  if (heldOf(row.tests) === 0 || missing(row).length > 0) return 'not run'
  return row.files.length > 0 ? 'held' : 'not listed'
}

/** The files of which nothing was run. */
const missing = ({ files, tests }: Row): string[] =>
  files.filter(file => heldOf(tests.filter(({ module }) => module.relativeModuleId === file)) === 0)

const countOf = ({ tests }: Row, state: string): number => tests.filter(test => test.result().state === state).length

/** A test that is still pending was never ended: its worker died. */
const failedOf = (row: Row): number => countOf(row, 'failed') + countOf(row, 'pending') + row.failures

const heldOf = (tests: readonly TestCase[]): number => tests.map(heldBy).reduce((sum, times) => sum + times, 0)

/** A test that passes without counting held once; one that fails held as often as it said before. */
function heldBy(test: TestCase): number {
  const { state } = test.result()
  return test.meta().fault?.times ?? (state === 'passed' ? 1 : 0)
}

function sums(reports: readonly FaultReport[]): Map<string, number> {
  const sum = new Map<string, number>()
  for (const { counts } of reports) {
    for (const [what, count] of Object.entries(counts)) sum.set(what, (sum.get(what) ?? 0) + count)
  }
  return sum
}

const number = (count: number): string => count.toLocaleString('en')

/** A Markdown table whose columns are aligned. */
function tableOf([head = [], ...body]: readonly string[][]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...body].map(row => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string => `| ${row.map((cell, at) => pad(cell, at)).join(' | ')} |\n`
  const pad = (cell: string, column: number): string =>
    column === 1 || column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  const rule = widths.map((width, column) =>
    column === 1 || column === 2 ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  )
  return line(head) + line(rule) + body.map(line).join('')
}
