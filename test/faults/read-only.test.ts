import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Child, inLongRun, runCli, whyNotHeldBack } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { mountSmallDisk, whyNoMounts } from '../support/mounts.ts'
import { scratchFolder } from '../support/scratch.ts'
import { serveWatched } from '../support/watched-server.ts'

let data: string
let ends: (() => unknown)[]
beforeEach(() => {
  data = join(scratchFolder(), 'data')
  mkdirSync(data, { mode: 0o700 })
  ends = []
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  chmodSync(data, 0o700)
  rmSync(join(data, '..'), { recursive: true })
})

const started = (...args: readonly string[]): Child => runCli([...args, '--data', data], { heldBack: true })

async function said(
  ...args: readonly string[]
): Promise<{ code: number | null; stderr: string; lines: readonly string[] }> {
  const child = started(...args)
  child.process.stdin?.end()
  const { code, stderr } = await child.ended
  return { code, stderr, lines: child.lines }
}

/** Checks that a command ends with one line that says why. */
async function refused(...args: readonly string[]): Promise<void> {
  expect(await said(...args), args[0]).toEqual({ code: 1, stderr: expect.stringMatching(ONE_LINE), lines: [] })
}

/** What a server leaves in the folder: after SIGTERM, or after `kill -9`. */
async function served(how: 'SIGTERM' | 'SIGKILL', store = 'sqlite'): Promise<void> {
  const server = await serveWatched(data, ['--store', store])
  await server.addTask()
  server.child.process.kill(how)
  await server.child.ended
}

/** Takes every permission to write, from files and folder. */
function close(folder: boolean): void {
  for (const name of readdirSync(data)) if (name.includes('.db')) chmodSync(join(data, name), 0o400)
  if (folder) chmodSync(data, 0o500)
}

const ONE_LINE =
  /^runsheet: cannot (?:use the data folder|open) [^\n]+(?:not writable|read-only|permission denied)[^\n]*\n$/

fault('a data folder that cannot be written')

describe.each(inLongRun(['sqlite', 'file'], ['sqlite']))(
  'a data folder without the permission to write, --store %s',
  store => {
    it('serve, mcp and stats end at once, with one line and code 1', async ({ skip }) => {
      if (whyNotHeldBack) return skip(whyNotHeldBack)
      await served('SIGTERM', store)
      close(true)
      await Promise.all([
        refused('serve', '--port', '0', '--store', store),
        refused('mcp', '--store', store),
        refused('stats', '--store', store),
      ])
      expect(await said('url')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^runsheet: [^\n]+\n$/) })
    })

    it('a database that is read-only in a folder that is not: the same for those who write', async ({ skip }) => {
      if (whyNotHeldBack) return skip(whyNotHeldBack)
      await served('SIGTERM', store)
      close(false)
      await Promise.all([refused('serve', '--port', '0', '--store', store), refused('mcp', '--store', store)])
    })
  },
)

describe.each(inLongRun(['sqlite', 'file', 'memory'], ['sqlite', 'memory']))(
  'a disk that is mounted read-only, --store %s',
  store => {
    it('after `kill -9`: serve and mcp end at once, with one line and code 1', async ({ skip }) => {
      if (whyNoMounts) return skip(whyNoMounts)
      const disk = mountSmallDisk(data, 8)
      ends.push(() => disk.unmount())
      await served('SIGKILL', store)
      disk.remount('ro')
      const commands = store === 'memory' ? ['serve'] : ['serve', 'mcp']
      await Promise.all(commands.map(command => refused(command, '--store', store)))
    })
  },
)

it('a disk that is mounted read-only, after a clean end: verify ends with one line and code 1', async ({ skip }) => {
  if (whyNoMounts) return skip(whyNoMounts)
  const disk = mountSmallDisk(data, 8)
  ends.push(() => disk.unmount())
  await served('SIGTERM')
  disk.remount('ro')
  const { code, stderr } = await said('verify')
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^runsheet: cannot verify [^\n]+not writable[^\n]+\n$/)])
})

it('a server whose note cannot be written does not stay, and says why', async ({ skip }) => {
  if (whyNotHeldBack) return skip(whyNotHeldBack)
  await served('SIGTERM', 'memory')
  close(true)
  const { code, stderr } = await said('serve', '--port', '0', '--store', 'memory')
  expect(code).toBe(1)
  expect(stderr).toMatch(ONE_LINE)
})

it('[CL2] a folder that becomes read-only under a server: it still ends cleanly', async ({ skip }) => {
  if (whyNotHeldBack) return skip(whyNotHeldBack)
  close(false)
  const child = started('serve', '--port', '0')
  await child.line(line => line.startsWith('Runsheet is ready'))
  chmodSync(data, 0o500)
  child.process.kill('SIGTERM')
  expect(await child.ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Error') })
})
