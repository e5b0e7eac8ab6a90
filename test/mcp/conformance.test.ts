import { rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Check, type Revision, runSuite, scoredScenarios } from '../support/conformance-suite.ts'
import { startUnderTest } from '../support/mcp-under-test.ts'
import { scratchFolder } from '../support/scratch.ts'

/** How many scenarios are scored is fixed for a revision: a suite that runs fewer has not run. */
const SCORED = { '2025-11-25': 30, '2026-07-28': 37 } as const

let folder: string
let server: Awaited<ReturnType<typeof startUnderTest>>

beforeEach(async () => {
  folder = scratchFolder()
  server = await startUnderTest()
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

describe('conformance', () => {
  it('[MC20] the conformance suite for 2025-11-25 passes, every scored scenario', () => passes('2025-11-25'))
  it('[MC21] the conformance suite for 2026-07-28 passes, every scored scenario', () => passes('2026-07-28'))
})

async function passes(revision: Revision): Promise<void> {
  const scored = scoredScenarios(revision)
  expect(scored).toHaveLength(SCORED[revision])
  const { code, said, checks } = await runSuite(server.url, revision, folder)
  const verdicts = scored.map(scenario => [scenario, verdict(checks.get(scenario))])
  expect(verdicts, said).toEqual(scored.map(scenario => [scenario, 'passed']))
  expect(code, said).toBe(0)
}

/** Stricter than the suite, which forgives warnings and what was skipped. A message that fits the schema is not yet a pass. */
function verdict(checks: readonly Check[] = []): string | readonly string[] {
  const wrong = checks.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO')
  if (wrong.length > 0) return wrong.map(({ id, errorMessage }) => `${id}: ${errorMessage}`)
  return checks.some(({ id, status }) => status === 'SUCCESS' && !id.startsWith('wire-schema')) ? 'passed' : 'not run'
}
