import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProcess } from './children.ts'

export type Revision = '2025-11-25' | '2026-07-28'

export interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly errorMessage?: string
}

const suite = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance/', import.meta.url))

/** Runs the conformance suite as a child process against a server; returns its checks by scenario. */
export async function runSuite(
  url: URL,
  revision: Revision,
  folder: string,
): Promise<{ code: number | null; said: string; checks: ReadonlyMap<string, readonly Check[]> }> {
  const args = ['server', '--url', url.href, '--requirements', revision, '--output-dir', folder]
  const child = runProcess([process.execPath, join(suite, 'dist/index.js'), ...args], { cwd: folder })
  const { code, stderr } = await child.ended
  return { code, said: [...child.lines, stderr].join('\n'), checks: checksIn(folder) }
}

/** The scenarios that a server must pass for this revision, from the suite's own list. */
export function scoredScenarios(revision: Revision): readonly string[] {
  const list = readFileSync(join(suite, `requirements/${revision}.yaml`), 'utf8')
  const [, server = ''] = /^server:\n((?: {2}- .+\n)+)/m.exec(list) ?? []
  return server.split('\n').flatMap(line => (line.startsWith('  - ') ? [line.slice(4).trim()] : []))
}

/** A scenario that did not finish leaves an empty folder. */
function checksIn(folder: string): ReadonlyMap<string, readonly Check[]> {
  return new Map(
    readdirSync(folder).flatMap(name => {
      const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name) ?? []
      const file = join(folder, name, 'checks.json')
      if (scenario === undefined || !existsSync(file)) return []
      return [[scenario, JSON.parse(readFileSync(file, 'utf8')) as Check[]] as const]
    }),
  )
}
