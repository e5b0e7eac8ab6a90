import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Host, hostOf, overStdio, type StdioEnd } from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'

const PLAN = { tasks: [{ title: 'Look' }] }

function folder(): string {
  const scratch = scratchFolder()
  const data = join(scratch, 'data')
  onTestFinished(() => {
    const note = join(data, 'server.json')
    if (existsSync(note)) process.kill((JSON.parse(readFileSync(note, 'utf8')) as { pid: number }).pid)
    rmSync(scratch, { recursive: true, maxRetries: 5 })
  })
  return data
}

async function joined(data: string, era: '2025' | '2026', cwd?: string): Promise<Host & StdioEnd> {
  const host = await overStdio(data, hostOf({ era }), ['--review', 'off', '--hooks'], undefined, cwd ? { cwd } : {})
  onTestFinished(() => host.client.close())
  return host
}

async function isTold(host: Host & StdioEnd, why: RegExp): Promise<void> {
  expect((await host.client.listTools()).tools.map(({ name }) => name)).toContain('plan')
  for (const [tool, input] of [['tasks'], ['plan', PLAN]] as const) {
    const { isError, text } = await host.call(tool, input)
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringMatching(why) })
    expect(text).toMatch(/^Error: [^\n]* Nothing was written\. The next call looks again; .*: runsheet doctor$/)
  }
  // Of what is wrong there is one line.
  expect(host.stderr().trim().split('\n')).toEqual([expect.stringMatching(why)])
}

const works = async (host: Host): Promise<void> =>
  expect(await host.call('plan', PLAN)).toMatchObject({ isError: false, data: { next: '1 Look' } })

it.each(['2025', '2026'] as const)(
  '`runsheet mcp` (%s) opens on a damaged database, leaves it as it is, and works once it is mended',
  async era => {
    const data = folder()
    const database = join(data, 'runsheet.db')
    mkdirSync(data, { mode: 0o700 })
    writeFileSync(database, 'SQLite format 3\0 and nothing else'.repeat(1_000))
    const host = await joined(data, era)
    await isTold(host, /cannot open SQLite: .*(database|file)/)
    expect(readFileSync(database, 'utf8')).toMatch(/^SQLite format 3\0 and nothing else/)
    rmSync(database)
    await works(host)
    await expect.poll(host.stderr, { timeout: 20_000 }).toContain('review plans at')
  },
)

it('it opens where the data folder is a file, and works once that is gone', async () => {
  const data = folder()
  writeFileSync(data, 'mine')
  const host = await joined(data, '2025')
  await isTold(host, /cannot use the data folder .*--data/)
  expect(readFileSync(data, 'utf8')).toBe('mine')
  rmSync(data)
  await works(host)
})

it('it opens with settings that cannot be read, and says that the host has to be restarted', async () => {
  const data = folder()
  mkdirSync(join(data, '..', 'project'))
  writeFileSync(join(data, '..', 'project', 'runsheet.json'), '{')
  await isTold(await joined(data, '2025', join(data, '..', 'project')), /runsheet\.json.* Then restart the host\./)
})
