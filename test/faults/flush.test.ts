import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, pragma } from '../../src/store/sqlite/open.ts'
import { acknowledged, runChild, runWriter } from '../support/children.ts'
import { fault, held } from '../support/faults.ts'
import { scratchFolder } from '../support/scratch.ts'

const whyNoStrace: string | undefined = (() => {
  if (process.platform !== 'linux') return 'needs Linux (strace)'
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'pipe' })
    return undefined
  } catch {
    return 'needs strace, and the right to trace'
  }
})()

let folder: string
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(() => rmSync(folder, { recursive: true }))

fault('power loss: what is acknowledged was flushed before')

it('[SQ1] the database is in WAL mode with synchronous=FULL', async () => {
  const path = join(folder, 'runsheet.db')
  const db = await openDatabase(path)
  expect([pragma(db, 'journal_mode'), pragma(db, 'synchronous')]).toEqual(['wal', 2])
  db.close()
  const other = new DatabaseSync(path)
  expect(pragma(other, 'journal_mode')).toBe('wal')
  other.close()
})

describe('flushes, counted', () => {
  /** What the kernel was asked for, in order: a flush of the WAL or another file, or an acknowledgement on stdout. */
  async function trace(
    store: 'sqlite' | 'json',
    writes: number,
    abreast: number,
  ): Promise<('flush' | 'rename' | 'ack')[]> {
    const log = join(folder, 'trace')
    const at = store === 'sqlite' ? join(folder, 'runsheet.db') : folder
    const order = { store, at, conversation: 'c1', from: 0, to: writes, abreast, tasks: store === 'json' }
    const child = runWriter(order, [
      'strace',
      '-f',
      '-o',
      log,
      '-e',
      'trace=fsync,fdatasync,rename,renameat,renameat2,write',
      '-e',
      'signal=none',
      '-s',
      '16',
    ])
    expect(await child.ended).toMatchObject({ code: 0 })
    expect(acknowledged(child).size).toBe(writes)
    held(1, { 'writes traced': writes })
    const steps = readFileSync(log, 'utf8')
      .split('\n')
      .flatMap((line): ('flush' | 'rename' | 'ack' | 'ready')[] => {
        if (/\bf(data)?sync\(/.test(line)) return ['flush']
        if (/\brename(at2?)?\(/.test(line)) return ['rename']
        if (/\bwrite\(1, "ack /.test(line)) return ['ack']
        return /\bwrite\(1, "ready/.test(line) ? ['ready'] : []
      })
    return steps.slice(steps.indexOf('ready') + 1).filter(step => step !== 'ready')
  }

  it('[SQ1] every acknowledged commit was flushed before it was acknowledged', async ({ skip }) => {
    if (whyNoStrace) return skip(whyNoStrace)
    const steps = await trace('sqlite', 40, 1)
    let flushed = 0
    for (const step of steps) {
      if (step === 'flush') flushed += 1
      if (step !== 'ack') continue
      expect(flushed).toBeGreaterThan(0)
      flushed = 0
    }
  })

  it('callers that come at once share a flush, and none is answered before it', async ({ skip }) => {
    if (whyNoStrace) return skip(whyNoStrace)
    const steps = await trace('sqlite', 200, 50)
    expect(steps[0]).toBe('flush')
    const acks = steps.filter(step => step === 'ack').length
    const flushes = steps.slice(0, steps.lastIndexOf('ack')).filter(step => step === 'flush').length
    expect(acks).toBe(200)
    expect(flushes).toBeLessThan(acks / 4)
  })

  it('leases are not flushed; the next commit flushes them', async ({ skip }) => {
    if (whyNoStrace) return skip(whyNoStrace)
    const log = join(folder, 'trace')
    const wrap = ['strace', '-f', '-y', '-o', log, '-e', 'trace=fsync,fdatasync,write,pwrite64', '-s', '16']
    const child = runChild(
      new URL('../support/lease-writer.ts', import.meta.url),
      { path: join(folder, 'runsheet.db'), leases: 20 },
      wrap,
    )
    expect(await child.ended).toMatchObject({ code: 0 })
    const text = readFileSync(log, 'utf8')
    const part = (from: string, to: string): string => text.slice(text.indexOf(from), text.indexOf(to))
    const flushes = (lines: string): number =>
      lines.split('\n').filter(line => /sync\(\d+<[^>]*-wal>/.test(line)).length
    const leases = part('"leases', '"commit')
    expect(leases).toMatch(/pwrite64\(\d+<[^>]*-wal>/)
    expect(flushes(leases)).toBe(0)
    expect(flushes(part('"commit', '"over'))).toBe(1)
  })

  it.skipIf(whyNoStrace !== undefined).each(['sqlite', 'json'] as const)(
    '[SQ1] %s: what a checkpoint moves is flushed before the log of it is overwritten, whichever connection runs it',
    async store => {
      const log = join(folder, 'trace')
      const at = store === 'sqlite' ? join(folder, 'runsheet.db') : folder
      const order = { store, at, conversation: 'c1', from: 0, to: 200, tasks: store === 'json', bulk: 100_000 }
      const child = runWriter(order, [
        'strace',
        '-f',
        '-y',
        '-o',
        log,
        '-e',
        'trace=fsync,fdatasync,pwrite64',
        '-e',
        'signal=none',
        '-s',
        '0',
      ])
      expect(await child.ended).toMatchObject({ code: 0 })
      let unflushed = 0
      let moved = 0
      for (const line of readFileSync(log, 'utf8').split('\n')) {
        if (/pwrite64\(\d+<[^>]*runsheet\.db>/.test(line)) {
          unflushed += 1
          moved += 1
        }
        if (/f(data)?sync\(\d+<[^>]*runsheet\.db>/.test(line)) unflushed = 0
        // The header of the log is written when it begins anew: from then on what it held is gone.
        if (/pwrite64\(\d+<[^>]*runsheet\.db-wal>, ""\.\.\., 32, 0\)/.test(line)) expect(unflushed).toBe(0)
      }
      expect(moved).toBeGreaterThan(1_000)
    },
  )

  it('a file is flushed, then renamed, then its folder is flushed, before the answer', async ({ skip }) => {
    if (whyNoStrace) return skip(whyNoStrace)
    const steps = await trace('json', 15, 1)
    const answers = steps.join(' ').split('ack').slice(0, 15)
    // The file aside, the database, the new name, the folder.
    for (const answer of answers) expect(answer).toMatch(/flush .*flush .*rename flush/)
  })
})
