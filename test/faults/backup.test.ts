import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { emptyConversation, fold } from '../../src/core/model/conversation.ts'
import { freeze } from '../../src/core/model/snapshot.ts'
import { add, openTurn, run } from '../store/contract.ts'
import { openFileStore } from '../../src/store/files/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { FullStore, Ref } from '../../src/store/store.ts'
import { acknowledged, type Child, inLongRun, killedAtRename, runCli, runWriter } from '../support/children.ts'
import { fault, held } from '../support/faults.ts'
import { checkLedger, wholeLog } from '../support/ledger.ts'
import { mountSmallDisk, whyNoMounts } from '../support/mounts.ts'
import { scratchFolder } from '../support/scratch.ts'
import { serveWatched } from '../support/watched-server.ts'

const refOf = (conversation: string): Ref => ({ tenant: 'local', conversation })

let scratch: string
let data: string
let ends: (() => unknown)[]
beforeEach(() => {
  scratch = scratchFolder()
  data = join(scratch, 'data')
  ends = []
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  rmSync(scratch, { recursive: true })
})

fault('backup and restore: cut, damaged, foreign, full, in use')

const at = (name: string): string => join(scratch, name)
const open = (kind: 'sqlite' | 'file', folder: string): Promise<FullStore> =>
  kind === 'sqlite' ? openSqliteStore({ path: join(folder, 'runsheet.db') }) : openFileStore({ data: folder })

async function said(...args: readonly string[]): Promise<{ code: number | null; out: string; stderr: string }> {
  const child = runCli(args, { cwd: scratch })
  const { code, stderr } = await child.ended
  return { code, out: child.lines.join('\n'), stderr }
}

/** Runs a command that must succeed. */
async function done(...args: readonly string[]): Promise<string> {
  const { code, out, stderr } = await said(...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return out
}

/** A data folder with two conversations and a template. */
async function filled(kind: 'sqlite' | 'file' = 'sqlite', folder = data): Promise<void> {
  const store = await open(kind, folder)
  for (const name of ['c1', 'c2']) await store.commit(refOf(name), run(openTurn('t1'), add('t1', `of ${name}`)))
  const tasks = [{ title: 'x', details: '', criteria: '', priority: 'medium', status: 'todo', tags: [] } as const]
  await store.templates.put('local', { name: 'weekly', tasks })
  await store.close()
}

const titles = async (folder: string, kind: 'sqlite' | 'file' = 'sqlite'): Promise<string[]> => {
  const store = await open(kind, folder)
  const found = await store.search.tasks('local', 'of', { limit: 50 })
  await store.close()
  return found.items.map(({ title }) => title).sort()
}

describe.each(inLongRun(['sqlite', 'file'] as const, ['file'] as const))('a backup of --store %s under load', kind => {
  fault('a backup under load, restored')
  it('[BK1][BK3] holds all that was acknowledged before it began, each log whole, and restores to just that', async () => {
    const server = await serveWatched(data, ['--store', kind])
    const place =
      kind === 'sqlite' ? { store: kind, at: join(data, 'runsheet.db') } : { store: 'json' as const, at: data }
    const writers = ['w1', 'w2', 'w3'].map(conversation => ({
      conversation,
      child: runWriter({ ...place, conversation, from: 0, to: 1_000_000, tasks: true }),
    }))
    ends.push(() => stopAll([...writers.map(({ child }) => child), server.child]))
    await Promise.all(writers.map(({ child }) => child.line(line => line.startsWith('ack 5 '))))
    await server.addTask('by the server')
    const backups: { file: string; acks: Map<string, Map<number, number>> }[] = []
    for (let count = 0; count < inLongRun(10, 1); count += 1) {
      const acks = new Map(writers.map(({ conversation, child }) => [conversation, acknowledged(child)]))
      const file = at(`backup-${count}.db`)
      expect(await done('backup', file, '--data', data, '--store', kind)).toMatch(
        /^Backed up 4 conversations, \d+ events/,
      )
      backups.push({ file, acks })
    }
    await stopAll([...writers.map(({ child }) => child), server.child])
    const original = await open(kind, data)
    ends.push(() => original.close())
    for (const [index, { file, acks }] of backups.entries()) {
      const folder = at(`restored-${index}`)
      await done('restore', file, '--data', folder, '--store', kind)
      const restored = await open(kind, folder)
      for (const conversation of ['c1', 'w1', 'w2', 'w3']) {
        const ref = refOf(conversation)
        const log = await wholeLog(restored, ref)
        const whole = await wholeLog(original, ref)
        expect(log).toEqual(whole.slice(0, log.length))
        checkLedger(conversation === 'c1' ? [] : log, acks.get(conversation) ?? new Map())
        expect(freeze(await restored.load(ref))).toBe(freeze(fold(emptyConversation(conversation), log)))
        // A task file that were older or newer than the log would add events here.
        expect(await wholeLog(restored, ref)).toHaveLength(log.length)
      }
      await restored.close()
      expect(await done('verify', '--data', folder, '--store', kind)).toMatch(
        /every log can be folded, and agrees with/,
      )
      held()
    }
  })
})

async function stopAll(children: readonly Child[]): Promise<void> {
  for (const child of children) child.process.kill('SIGKILL')
  await Promise.all(children.map(({ ended }) => ended))
}

describe('the file of a backup', () => {
  it('[BK1] is for its owner only, needs no other file, and opens where nothing can be written', async () => {
    await filled()
    await done('backup', 'b.db', '--data', data)
    expect(readdirSync(scratch).sort()).toEqual(['b.db', 'data'])
    expect(statSync(at('b.db')).mode & 0o777).toBe(0o600)
    const db = new DatabaseSync(at('b.db'), { readOnly: true })
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' })
    db.close()
  })

  it('[BK1] can also be copied to its place by hand', async () => {
    await filled()
    await done('backup', 'b.db', '--data', data)
    mkdirSync(at('again'))
    copyFileSync(at('b.db'), at('again/runsheet.db'))
    const store = await open('sqlite', at('again'))
    await store.commit(refOf('c1'), run(add('t1', 'of c1, later')))
    await store.close()
    expect(await titles(at('again'))).toEqual(['of c1', 'of c1, later', 'of c2'])
  })

  it('is replaced only with --force', async () => {
    await filled()
    writeFileSync(at('b.db'), 'something else')
    expect(await said('backup', 'b.db', '--data', data)).toEqual({
      code: 1,
      out: '',
      stderr: 'runsheet: b.db exists. Choose another name, or replace it with --force.\n',
    })
    expect(readFileSync(at('b.db'), 'utf8')).toBe('something else')
    await done('backup', 'b.db', '--data', data, '--force')
    await done('restore', 'b.db', '--data', at('again'))
    expect(await titles(at('again'))).toEqual(['of c1', 'of c2'])
  })

  it('does not appear if the disk is full, the folder is missing, or the database is damaged', async ({ skip }) => {
    await filled()
    const line = /^runsheet: cannot (?:back up|open) [^\n]+\n$/
    expect(await said('backup', 'no/such/folder/b.db', '--data', data)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(line),
    })
    const damaged = at('damaged')
    mkdirSync(damaged)
    const bytes = readFileSync(join(data, 'runsheet.db'))
    writeFileSync(join(damaged, 'runsheet.db'), bytes.fill(0xff, 8_192, 40_960))
    expect(await said('backup', 'b.db', '--data', damaged)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(line),
    })
    expect(existsSync(at('b.db'))).toBe(false)
    if (whyNoMounts) return skip(whyNoMounts)
    mkdirSync(at('small'))
    const disk = mountSmallDisk(at('small'), 1)
    ends.push(() => disk.unmount())
    writeFileSync(at('small/ballast'), Buffer.alloc(1_000_000))
    expect(await said('backup', 'small/b.db', '--data', data)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^runsheet: cannot back up [^\n]+full[^\n]*\n$/),
    })
    expect(readdirSync(at('small'))).toEqual(['ballast'])
  })

  it('[BK1] has the task files as they are, except those that are no regular files, which it names', async () => {
    await filled('file')
    const tasks = join(data, '.agents', 'tasks')
    writeFileSync(join(tasks, 'broken.json'), '{ "tasks": [')
    symlinkSync('/dev/zero', join(tasks, 'endless.json'))
    const { code, out, stderr } = await said('backup', 'b.db', '--data', data)
    expect({ code, out }).toEqual({
      code: 0,
      out: 'Backed up 2 conversations, 6 events, 1 template, 3 task files to b.db',
    })
    expect(stderr).toBe('Not in it, because they are no regular files of up to 8 MB: endless.json\n')
    await done('restore', 'b.db', '--data', at('again'))
    const restored = join(at('again'), '.agents', 'tasks')
    expect(readdirSync(restored).sort()).toEqual(['broken.json', 'c1.json', 'c2.json'])
    for (const name of readdirSync(restored)) {
      expect(readFileSync(join(restored, name))).toEqual(readFileSync(join(tasks, name)))
    }
    expect(await titles(at('again'), 'file')).toEqual(['of c1', 'of c2'])
  })
})

describe('restore', () => {
  it('[BK3] into a folder with plans needs --force, and sets aside what was there', async () => {
    await filled('file')
    await done('backup', 'b.db', '--data', data)
    const other = at('other')
    const store = await open('file', other)
    await store.commit(refOf('c9'), run(openTurn('t1'), add('t1', 'of c9')))
    await store.close()
    const refused = await said('restore', 'b.db', '--data', other)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/holds plans already[^\n]+--force\.\n$/) })
    expect(await titles(other, 'file')).toEqual(['of c9'])
    const [, aside = ''] = /is in (.*)$/m.exec(await done('restore', 'b.db', '--data', other, '--force')) ?? []
    expect(await titles(other, 'file')).toEqual(['of c1', 'of c2'])
    expect(await titles(aside, 'file')).toEqual(['of c9'])
    expect(statSync(aside).mode & 0o777).toBe(0o700)
  })

  it('[BK3] refuses while a server runs, and other processes write no more to what was set aside', async () => {
    await filled()
    await done('backup', 'b.db', '--data', data)
    const server = await serveWatched(data)
    ends.push(() => stopAll([server.child]))
    expect(await said('restore', 'b.db', '--data', data, '--force')).toMatchObject({
      code: 1,
      stderr: `runsheet: a server is running for ${data} (process ${server.child.process.pid}). Stop it first.\n`,
    })
    await server.stop()
    const beside = await open('sqlite', data)
    ends.push(() => beside.close())
    await done('restore', 'b.db', '--data', data, '--force')
    await expect(beside.commit(refOf('c1'), run(add('t1', 'of nobody')))).rejects.toMatchObject({ code: 'replaced' })
    await beside.close()
    // That of the database that was set aside went with it.
    expect(readdirSync(data).filter(name => name.includes('-head'))).toEqual([])
    expect(await titles(data)).toEqual(['of c1', 'of c2'])
  })

  it('leaves the tokens of the folder as they are; a backup has none', async () => {
    const server = await serveWatched(data)
    await server.stop()
    await done('backup', 'b.db', '--data', data)
    const bytes = readFileSync(at('b.db'), 'latin1')
    for (const token of Object.values(server.tokens)) expect(bytes).not.toContain(token)
    const before = readFileSync(join(data, 'person-token'), 'utf8')
    await done('restore', 'b.db', '--data', data, '--force')
    expect(readFileSync(join(data, 'person-token'), 'utf8')).toBe(before)
    await done('restore', 'b.db', '--data', at('again'))
    expect(readdirSync(at('again'))).not.toContain('person-token')
  })

  it('refuses what is no backup, in one line, and leaves the folder as it was', async () => {
    await filled()
    await done('backup', 'b.db', '--data', data)
    const changed = (name: string, sql: string): string => {
      copyFileSync(at('b.db'), at(name))
      const db = new DatabaseSync(at(name))
      db.exec(sql)
      db.close()
      return name
    }
    writeFileSync(at('text'), 'Not a database, but a text that is long enough to be looked at. '.repeat(20))
    const bytes = readFileSync(at('b.db'))
    writeFileSync(at('damaged.db'), Buffer.from(bytes).fill(0xff, 8_192, 40_960))
    writeFileSync(at('cut.db'), bytes.subarray(0, bytes.length - 20_000))
    writeFileSync(at('live.db'), bytes)
    writeFileSync(at('live.db-wal'), '')
    const files: readonly [name: string, why: RegExp][] = [
      ['missing', /there is no file missing/],
      ['text', /no backup/],
      ['damaged.db', /damaged/],
      ['cut.db', /damaged/],
      ['live.db', /-wal beside it/],
      [changed('foreign.db', 'PRAGMA application_id = 7'), /no backup of Runsheet/],
      [changed('newer.db', 'PRAGMA user_version = 999'), /newer Runsheet/],
      [changed('gap.db', 'DELETE FROM events WHERE seq = 2'), /event 2 of local\/c1 is missing/],
      [changed('title.db', "UPDATE conversations SET title = 'x'"), /c1: its row differs from its log \(title\)/],
      [changed('event.db', 'UPDATE events SET data = data || 1'), /event 1 of local\/c1 does not fit its chain/],
      [
        changed(
          'outside.db',
          `CREATE TABLE backup_task_files (name TEXT, content BLOB); INSERT INTO backup_task_files VALUES ('../../outside.json', x'41')`,
        ),
        /no valid name/,
      ],
    ]
    for (const [name, why] of files) {
      const { code, stderr, out } = await said('restore', name, '--data', data, '--force')
      expect([name, code, out]).toEqual([name, 1, ''])
      expect(stderr).toMatch(/^runsheet: [^\n]+\n$/)
      expect(stderr).toMatch(why)
    }
    expect(readdirSync(data).filter(name => /^(runsheet|restoring|before)/.test(name))).toEqual([
      'runsheet.db',
      'runsheet.db-head',
    ])
    expect(await titles(data)).toEqual(['of c1', 'of c2'])
    expect(existsSync(at('outside.json'))).toBe(false)
  })

  it('backup and restore name the tools of PostgreSQL instead', async () => {
    for (const command of ['backup', 'restore']) {
      const { code, stderr } = await said(command, 'b.db', '--store', 'postgres://app:s3cret@db/plans')
      expect(code).toBe(1)
      expect(stderr).toMatch(/^runsheet: PostgreSQL has its own tools: pg_dump [^\n]+\n$/)
      expect(stderr).not.toContain('s3cret')
    }
  })
})

it('a backup that is killed leaves the folder usable, and under its name a whole backup or none', async () => {
  await filled()
  const child = runCli(['backup', 'b.db', '--data', data], { cwd: scratch })
  await expect
    .poll(() => readdirSync(scratch).some(name => name.startsWith('b.db')) || child.process.exitCode !== null)
    .toBe(true)
  child.process.kill('SIGKILL')
  await child.ended
  if (existsSync(at('b.db'))) expect(await said('restore', 'b.db', '--data', at('again'))).toMatchObject({ code: 0 })
  expect(await titles(data)).toEqual(['of c1', 'of c2'])
})

it.each(inLongRun(['sqlite', 'file'] as const, ['file'] as const))(
  '[BK3] a restore with --force that is killed at any step: a start finds all of the old plans, or refuses until it is finished',
  async kind => {
    await filled(kind)
    await done('backup', 'b.db', '--data', data)
    const args = (folder: string): string[] => ['restore', at('b.db'), '--data', folder, '--force']
    const outcomes = new Set<string>()
    // The first renames are of files that are prepared.
    for (let step = inLongRun(1, 3); ; step += inLongRun(1, 2)) {
      const folder = at(`step-${step}`)
      const store = await open(kind, folder)
      await store.commit(refOf('c9'), run(openTurn('t1'), add('t1', 'of c9')))
      await store.close()
      const { signal } = await killedAtRename(step, ...args(folder))
      if (signal === null) break
      const found = await titles(folder, kind).catch((error: Error) => error.message)
      const isWaiting =
        typeof found === 'string' && /"runsheet restore" was interrupted[^\n]+it finishes\.$/.test(found)
      const outcome = isWaiting ? 'refused' : String(found)
      expect([step, outcome]).toEqual([step, expect.stringMatching(/^(?:refused|of c9|of c1,of c2)$/)])
      outcomes.add(outcome)
      const [, aside = ''] = /is in (.*)$/m.exec(await done(...args(folder))) ?? []
      expect([step, await titles(folder, kind)]).toEqual([step, ['of c1', 'of c2']])
      const isDone = outcome === 'of c1,of c2'
      expect([step, await titles(aside, kind)]).toEqual([step, isDone ? ['of c1', 'of c2'] : ['of c9']])
      expect(readdirSync(folder).filter(name => /moves|restoring/.test(name))).toEqual([])
      held()
    }
    expect([...outcomes]).toEqual(expect.arrayContaining(['refused', 'of c9']))
  },
)
