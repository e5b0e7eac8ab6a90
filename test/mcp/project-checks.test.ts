import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { BUILT } from '../support/children.ts'
import { type Era, type Host, hostOf, overStdio } from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'

/** A host that starts its server in this folder of its own, and has neither roots nor forms. */
async function startedIn(folder: 'project' | 'home', era: Era, args: readonly string[]): Promise<Host> {
  const scratch = scratchFolder()
  const cwd = join(scratch, folder)
  mkdirSync(cwd)
  const env = { HOME: join(scratch, 'home'), XDG_CONFIG_HOME: join(scratch, 'config') }
  const host = hostOf({ era, name: 'codex-mcp-client' })
  await overStdio(join(scratch, 'data'), host, args, BUILT, { env, cwd })
  onTestFinished(async () => {
    await host.client.close()
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
  })
  return host
}

const offersChecks = async ({ client }: Host): Promise<boolean> => {
  const { tools } = await client.listTools()
  return JSON.stringify(tools.find(({ name }) => name === 'plan')?.inputSchema).includes('"check"')
}

it.each([
  [true, 'project', '2025', ['--hooks']],
  [true, 'project', '2026', ['--hooks']],
  [false, 'project', '2026', []],
  [false, 'home', '2026', ['--hooks']],
] as const)('checks are offered: %s, to a server in the %s folder, %s, %j', async (offered, folder, era, args) => {
  expect(await offersChecks(await startedIn(folder, era, args))).toBe(offered)
})
