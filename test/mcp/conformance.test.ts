import { rmSync } from 'node:fs'
import { CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Check, type Revision, runSuite, scoredScenarios } from '../support/conformance-suite.ts'
import { startUnderTest } from '../support/mcp-under-test.ts'
import { scratchFolder } from '../support/scratch.ts'

/** The scored scenarios of each revision: fewer means that the suite did not run completely. */
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
  it('[MC28] the conformance suite for 2025-11-25 passes, every scored scenario', () => passes('2025-11-25'))
  it('[MC28] the conformance suite for 2026-07-28 passes, every scored scenario', () => passes('2026-07-28'))

  it('[MC28] the list of another conversation is not found, as the suite expects of missing resources', async () => {
    const uri = 'runsheet://another/tasks'
    const _meta = { [PROTOCOL_VERSION_META_KEY]: '2026-07-28', [CLIENT_CAPABILITIES_META_KEY]: {} }
    const response = await fetch(server.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'resources/read',
        'mcp-name': uri,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri, _meta } }),
    })
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32_602, data: { uri } } })
  })
})

async function passes(revision: Revision): Promise<void> {
  const scored = scoredScenarios(revision)
  expect(scored).toHaveLength(SCORED[revision])
  const { code, said, checks } = await runSuite(server.url, revision, folder)
  const verdicts = scored.map(scenario => [scenario, verdict(checks.get(scenario))])
  expect(verdicts, said).toEqual(scored.map(scenario => [scenario, 'passed']))
  expect(code, said).toBe(0)
}

/** Stricter than the suite, which accepts warnings and skipped checks. */
function verdict(checks: readonly Check[] = []): string | readonly string[] {
  const wrong = checks.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO')
  if (wrong.length > 0) return wrong.map(({ id, errorMessage }) => `${id}: ${errorMessage}`)
  return checks.some(({ id, status }) => status === 'SUCCESS' && !id.startsWith('wire-schema')) ? 'passed' : 'not run'
}
