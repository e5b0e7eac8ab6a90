import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { note } from '../store/contract.ts'
import { readHead } from '../../src/store/sqlite/head-file.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { acknowledged, inLongRun, runWriter } from '../support/children.ts'
import { type Content, contentOf, copyOf, flipBit, type Outcome, outcomeOf, randomFrom } from '../support/damage.ts'
import { closedDatabase, killedWriter } from '../support/damaged-databases.ts'
import { fault, held } from '../support/faults.ts'
import { checkLedger, wholeLog } from '../support/ledger.ts'
import { scratchFolder } from '../support/scratch.ts'

const ref = { tenant: 'local', conversation: 'killed' }
const FOREVER = 1_000_000
const SEEDS = inLongRun(100, 6)

/** A data folder and all that was acknowledged in it. */
interface Scene {
  readonly folder: string
  readonly content: Content
}
/** Ended cleanly; killed while it wrote more; and another one that was killed. */
let closed: Scene
let killed: Scene
let other: Scene

beforeAll(async () => {
  closed = await sceneOf(await closedDatabase())
  const folder = copyOf(closed.folder)
  killed = await sceneOf(await killedWriter(folder.folder, 150))
  other = await sceneOf(await killedWriter(scratchFolder(), 100))
})
afterAll(() => {
  for (const { folder } of [closed, killed, other]) rmSync(folder, { recursive: true })
})

/** Applies the damage to a copy for each seed, and counts what becomes of it. */
async function tally(
  { folder, content }: Scene,
  damage: (path: string, seed: number) => unknown,
  seeds = SEEDS,
): Promise<Partial<Record<Outcome, number>>> {
  const counts: Partial<Record<Outcome, number>> = {}
  for (let seed = 1; seed <= seeds; seed += 1) {
    const copy = copyOf(folder)
    const where = damage(copy.path, seed)
    const { outcome, detail } = await outcomeOf(copy.path, content)
    expect({ seed, where, outcome, detail }).not.toMatchObject({ outcome: 'silent' })
    counts[outcome] = (counts[outcome] ?? 0) + 1
    held()
    rmSync(copy.folder, { recursive: true })
  }
  return counts
}

describe('one flipped bit', () => {
  fault('one flipped bit in a file of SQLite')
  it('[SQ15][FA5] in the WAL after kill -9: no acknowledged write is missing without notice', async () => {
    const { refused = 0, intact = 0 } = await tally(killed, (path, seed) => flipBit(`${path}-wal`, seed))
    // Harmless is only what follows the last commit.
    expect([refused + intact, refused > 0]).toEqual([SEEDS, true])
  })

  it('[SQ16][FA5] in the database file after a clean end: nothing is changed without notice', async () => {
    await tally(closed, flipBit)
  })

  it('[SQ16][FA5] in the database file after kill -9: nothing is changed without notice', async () => {
    await tally(killed, flipBit)
  })

  it('[SQ15] in the head file: is no alarm, because nothing is lost', async () => {
    expect(await tally(killed, (path, seed) => flipBit(`${path}-head`, seed))).toEqual({ intact: SEEDS })
    expect(await tally(closed, (path, seed) => flipBit(`${path}-head`, seed))).toEqual({ intact: SEEDS })
  })
})

describe('damaged files', () => {
  fault('files of SQLite that are cut, missing or of another time')
  const remove =
    (...suffixes: readonly string[]) =>
    (path: string) => {
      for (const suffix of suffixes) rmSync(path + suffix)
    }
  it.each<[string, () => Scene, (path: string) => void]>([
    ['a deleted -wal', () => killed, remove('-wal')],
    ['a deleted -wal and -shm', () => killed, remove('-wal', '-shm')],
    ['a -wal that is cut in half', () => killed, path => cutInHalf(`${path}-wal`)],
    [
      'a -wal that is cut in half, without -shm',
      () => killed,
      path => (remove('-shm')(path), cutInHalf(`${path}-wal`)),
    ],
    ['an emptied -wal', () => killed, path => truncateSync(`${path}-wal`, 0)],
    ['the -wal of another database', () => killed, path => copyFileSync(otherFile('-wal'), `${path}-wal`)],
    ['the -wal of another one beside it', () => closed, path => copyFileSync(otherFile('-wal'), `${path}-wal`)],
    ['a file that is cut in half', () => killed, cutInHalf],
    ['an emptied file', () => killed, path => truncateSync(path, 0)],
    ['a deleted file', () => closed, remove('')],
    ['another database in its place', () => closed, path => copyFileSync(otherFile(''), path)],
    ['an older state of it', () => killed, path => (remove('-wal', '-shm')(path), copyFileSync(inScene(closed), path))],
  ])('[SQ15] %s: is refused, and every file is left as it is', async (_, scene, damage) => {
    const copy = copyOf(scene().folder)
    damage(copy.path)
    const sums = (): unknown[] =>
      ['', '-wal', '-head'].map(suffix => {
        const file = copy.path + suffix
        // Reading makes an empty -wal where there is none.
        return existsSync(file) && statSync(file).size > 0 ? [suffix, crc32(readFileSync(file))] : [suffix]
      })
    const before = sums()
    for (let tries = 0; tries < 2; tries += 1) {
      await expect(openSqliteStore({ path: copy.path })).rejects.toMatchObject({
        name: 'StoreError',
        code: 'corrupt',
        message: expect.stringMatching(/is damaged and was left untouched|Put it back/),
      })
      expect(sums()).toEqual(before)
    }
    rmSync(copy.folder, { recursive: true })
  })
})

describe('the head file', () => {
  fault('files of SQLite that are cut, missing or of another time')
  it('[SQ15][FA5] covers all that several writers were answered, whichever of them is killed', async () => {
    const random = randomFrom(3)
    for (let round = 0; round < inLongRun(20, 2); round += 1) {
      const folder = scratchFolder()
      const at = join(folder, 'runsheet.db')
      const names = ['a', 'b', 'c']
      const writers = names.map(conversation =>
        runWriter({ store: 'sqlite', at, conversation, from: 0, to: FOREVER, abreast: 1 + (round % 4) }),
      )
      for (const writer of writers) {
        const last = 10 + Math.floor(random() * 40)
        await writer.line(line => line.startsWith(`ack ${last} `))
        writer.process.kill('SIGKILL')
        await writer.ended
      }
      const db = new DatabaseSync(at, { readOnly: true })
      const id = db.prepare(
        'SELECT max(e.id) AS id FROM events e JOIN conversations c ON c.id = conversation_id WHERE conversation = ? AND seq = ?',
      )
      const acked = writers.map((writer, index) => {
        const newest = Math.max(...acknowledged(writer).values())
        return Number(id.get(names[index] ?? '', newest)?.['id'])
      })
      db.close()
      expect(readHead(at)?.id).toBeGreaterThanOrEqual(Math.max(...acked))
      rmSync(folder, { recursive: true })
    }
  }, 600_000)
})

describe('the WAL', () => {
  fault('files of SQLite that are cut, missing or of another time')
  it('stays small, however much is written', async () => {
    const folder = scratchFolder()
    const path = join(folder, 'runsheet.db')
    const store = await openSqliteStore({ path })
    for (let index = 0; index < 200; index += 1) {
      await store.commit(ref, () => ({ events: [note('x'.repeat(100_000))], value: null }))
    }
    expect(statSync(`${path}-wal`).size).toBeLessThan(5_000_000)
    await store.close()
    rmSync(folder, { recursive: true })
  })
})

describe('without damage', () => {
  fault('files of SQLite that are cut, missing or of another time')
  it('[SQ15][FA5] no kill -9 is reported as damage, with one writer or several, and nothing is lost', async () => {
    const random = randomFrom(7)
    const folder = scratchFolder()
    const at = join(folder, 'runsheet.db')
    const acks = new Map<number, number>()
    for (let kill = 0; kill < inLongRun(100, 2); kill += 1) {
      const from = Math.max(0, ...acks.keys()) + 1
      const writers = Array.from({ length: 1 + (kill % 3) }, (_, index) =>
        runWriter({ store: 'sqlite', at, conversation: ref.conversation, from: from + index * 10_000, to: FOREVER }),
      )
      // Some of several die while the others go on.
      for (const [index, writer] of writers.entries()) {
        const last = from + index * 10_000 + Math.floor(random() * 30)
        await writer.line(line => line.startsWith(`ack ${last} `))
        writer.process.kill('SIGKILL')
        await writer.ended
      }
      for (const writer of writers) for (const [number, seq] of acknowledged(writer)) acks.set(number, seq)
      // Sometimes the next writers come without a clean end in between.
      if (kill % 3 === 0) continue
      const store = await openSqliteStore({ path: at })
      checkLedger(await wholeLog(store, ref), acks)
      await store.close()
    }
    const store = await openSqliteStore({ path: at })
    checkLedger(await wholeLog(store, ref), acks)
    await store.close()
    rmSync(folder, { recursive: true })
  }, 600_000)
})

async function sceneOf(folder: string): Promise<Scene> {
  const copy = copyOf(folder)
  const store = await openSqliteStore({ path: copy.path })
  const content = await contentOf(store)
  await store.close()
  rmSync(copy.folder, { recursive: true })
  return { folder, content }
}

const cutInHalf = (file: string): void => truncateSync(file, Math.floor(statSync(file).size / 2))
const inScene = ({ folder }: Scene, suffix = ''): string => join(folder, `runsheet.db${suffix}`)
const otherFile = (suffix: string): string => inScene(other, suffix)
