import { AsyncLocalStorage } from 'node:async_hooks'
import { aroundEach, TestRunner } from 'vitest'

/*
 * How a test gets into the table of faults that `npm run test:long` prints:
 * 1. `fault('one flipped bit in the WAL')` in a describe, or at the top of a file, names the row of its tests. Each test that passes counts as one fault that held.
 *    The row must be on the list in `fault-rows.ts`.
 * 2. `held()` after each round, or `held(100, { writes: 4_000 })` once, in a test that injects more than one; the counts are added up and shown.
 * 3. `answered(promise)` around calls: the row shows the slowest answer.
 */

/** What a test has to say in the table of faults. */
export interface FaultReport {
  /** How many faults held; undefined where the test does not count. */
  times?: number
  slowestMs?: number
  readonly counts: Record<string, number>
}

declare module 'vitest' {
  interface TaskMeta {
    /** Of a suite or file: the row of its tests. */
    faultRow?: string
    fault?: FaultReport
  }
}

// Not a variable: concurrent tests report at the same time.
const reports = new AsyncLocalStorage<FaultReport>()

/** Names the row in which the tests of this describe, or of this file, are counted. */
export function fault(row: string): void {
  // When tests are collected: also those that are never run belong to the row.
  const { suite, file } = TestRunner.getCurrentSuite()
  const { meta } = suite ?? file
  meta.faultRow = row
  aroundEach(async (runTest, { task }) => {
    const report: FaultReport = { counts: {} }
    task.meta.fault = report
    await reports.run(report, runTest)
  })
}

/** Reports that so many more faults were injected and held, and what else was counted. */
export function held(times = 1, counts: Readonly<Record<string, number>> = {}): void {
  const report = reports.getStore()
  if (!report) return
  report.times = (report.times ?? 0) + times
  for (const [what, count] of Object.entries(counts)) report.counts[what] = (report.counts[what] ?? 0) + count
}

/** A request may take 5 s. What takes this long has another limit, or none; a busy machine takes less. */
const TOO_LATE_MS = 9_000

/** Measures how long an answer takes. Rejects if it comes too late. */
export async function answered<T>(answer: Promise<T>): Promise<T> {
  const report = reports.getStore()
  const from = performance.now()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer after ${TOO_LATE_MS / 1_000} s`)), TOO_LATE_MS)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
    if (report) report.slowestMs = Math.max(report.slowestMs ?? 0, performance.now() - from)
  }
}
