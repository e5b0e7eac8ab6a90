import { writeFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import type { FaultReport } from './faults.ts'

interface Row {
  readonly name: string
  readonly tests: TestCase[]
  readonly reports: FaultReport[]
  /** Whether a file of this name could not be run. */
  isBroken: boolean
}

const FAULTS = 'test/faults/'

/** Ends a long run with the table of faults; `FAULT_TABLE=file.md` writes it to a file as well. */
export default class FaultTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = rowsOf(modules)
    const table = tableOf([['fault', 'tried', 'held', '', 'counted'], ...rows.map(cells)])
    process.stdout.write(`\n${table}\n`)
    const file = process.env['FAULT_TABLE']
    if (file) writeFileSync(file, table)
  }
}

function rowsOf(modules: readonly TestModule[]): Row[] {
  const rows = new Map<string, Row>()
  const rowOf = (name: string): Row => {
    const row = rows.get(name) ?? { name, tests: [], reports: [], isBroken: false }
    rows.set(name, row)
    return row
  }
  for (const module of modules.toSorted((a, b) => a.relativeModuleId.localeCompare(b.relativeModuleId))) {
    if (module.errors().length > 0) rowOf(module.relativeModuleId).isBroken = true
    for (const test of module.children.allTests()) {
      const { fault } = test.meta()
      // Tests of faults without a row of their own are not left out.
      const name = fault?.row ?? (module.relativeModuleId.startsWith(FAULTS) ? module.relativeModuleId : undefined)
      if (name === undefined) continue
      const row = rowOf(name)
      row.tests.push(test)
      if (fault) row.reports.push(fault)
    }
  }
  return [...rows.values()]
}

function cells({ name, tests, reports, isBroken }: Row): string[] {
  const count = (state: string): number => tests.filter(test => test.result().state === state).length
  const [failed, skipped] = [count('failed') + Number(isBroken), count('skipped')]
  const held = tests.map(heldBy).reduce((sum, times) => sum + times, 0)
  const slowestMs = Math.max(...reports.map(report => report.slowestMs ?? 0))
  const counted = [...sums(reports)].map(([what, sum]) => `${number(sum)} ${what}`)
  if (slowestMs > 0) counted.push(`slowest answer ${(slowestMs / 1_000).toFixed(1)} s`)
  if (skipped > 0) counted.push(`${skipped} skipped`)
  const verdict = failed > 0 ? 'not held' : held > 0 ? 'held' : 'not run'
  return [name, number(held + failed), number(held), verdict, counted.join(', ')]
}

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
