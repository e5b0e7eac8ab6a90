import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { openFileStore } from '../../src/store/files/store.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { acknowledged, inLongRun, runWriter } from '../support/children.ts'
import { fault, held } from '../support/faults.ts'
import { checkLedger, wholeLog } from '../support/ledger.ts'
import { freshDatabase } from '../support/postgres.ts'
import { scratchFolder } from '../support/scratch.ts'
import type { WriterOrder } from '../support/writer.ts'

const ref = { tenant: 'local', conversation: 'killed' }
const FOREVER = 1_000_000

const POINTS = {
  sqlite: ['begun', 'staged', 'written', 'committed', 'noted'],
  json: ['looked', 'begun', 'staged', 'prepared', 'written', 'committed', 'noted', 'renamed'],
  postgres: ['begun', 'staged', 'written', 'committing', 'committed'],
} as const

const url = inject('postgresUrl')
const kinds = (['sqlite', 'json', 'postgres'] as const).filter(kind => kind !== 'postgres' || url !== '')

describe.each(kinds)('%s under kill -9', kind => {
  fault(`kill -9 of a process that writes (${kind})`)
  let folder: string
  let database: Awaited<ReturnType<typeof freshDatabase>> | undefined
  beforeEach(async () => {
    folder = scratchFolder()
    if (kind === 'postgres') database = await freshDatabase(url)
  })
  afterEach(async () => {
    rmSync(folder, { recursive: true })
    await database?.drop()
  })

  const at = (): string => ({ sqlite: join(folder, 'runsheet.db'), json: folder, postgres: database?.url ?? '' })[kind]
  const open = (): Promise<Store> => {
    if (kind === 'postgres') return openPostgresStore({ url: at() })
    return kind === 'sqlite' ? openSqliteStore({ path: at() }) : openFileStore({ data: at() })
  }
  const order = (more: Partial<WriterOrder>): WriterOrder => ({
    store: kind,
    at: at(),
    conversation: ref.conversation,
    from: 0,
    to: FOREVER,
    tasks: kind === 'json',
    ...more,
  })

  /** What holds after every death, whatever it cut through. */
  async function checkWhole(acks: ReadonlyMap<number, number>): Promise<number> {
    const store = await open()
    try {
      const state = await store.load(ref)
      const log = await wholeLog(store, ref)
      checkLedger(log, acks)
      // What a crash cut through is mended, not taken for a deletion.
      expect(log.filter(({ type }) => type === 'task_removed')).toEqual([])
      expect(state.seq).toBe(log.length)
      if (kind === 'json' && state.tasks.size > 0)
        checkFile(
          folder,
          [...state.tasks.values()].map(({ title }) => title),
        )
      return log.length
    } finally {
      await store.close()
    }
  }

  it('[FA1] at random moments: no acknowledged write is lost or doubled, and seq has no hole', async () => {
    const kills = inLongRun(60, 4)
    const acks = new Map<number, number>()
    let from = 0
    for (let kill = 0; kill < kills; kill += 1) {
      const child = runWriter(order({ from, abreast: kill % 2 ? 8 : 1 }))
      // Some die in the middle of a burst, some right after they began.
      const after = from + Math.floor(Math.random() * (kill % 3 ? 60 : 4))
      await child.line(line => line.startsWith(`ack ${after} `))
      child.process.kill('SIGKILL')
      expect((await child.ended).signal).toBe('SIGKILL')
      for (const [number, seq] of acknowledged(child)) acks.set(number, seq)
      await checkWhole(acks)
      // The next one begins with writes that may or may not have been done: their keys tell.
      from = Math.max(...acks.keys()) - 5
    }
    expect(acks.size).toBeGreaterThan(kills)
    held(kills, { 'acknowledged writes, none lost': acks.size })
  }, 600_000)

  it.each(POINTS[kind].map(point => [point]))(
    '[FA1] at the point "%s": nothing acknowledged is lost, and the next process goes on',
    async point => {
      const acks = new Map<number, number>()
      for (let round = 0; round < inLongRun(6, 1); round += 1) {
        const child = runWriter(order({ abreast: 3, dieAt: { point, nth: 4 + round * 3 } }))
        expect((await child.ended).signal).toBe('SIGKILL')
        for (const [number, seq] of acknowledged(child)) acks.set(number, seq)
        await checkWhole(acks)
        held()
      }
      const successor = runWriter(order({ from: 0, to: 20 }))
      expect(await successor.ended).toMatchObject({ code: 0 })
      for (const [number, seq] of acknowledged(successor)) acks.set(number, seq)
      await checkWhole(acks)
      expect([...acks.keys()].filter(number => number < 20)).toHaveLength(20)
    },
  )

  if (kind === 'json') {
    it('[FA1] when another program edits the file after the crash: its edit counts, and the cut write is not lost', async () => {
      const child = runWriter(order({ to: 5, dieAt: { point: 'committed', nth: 4 } }))
      expect((await child.ended).signal).toBe('SIGKILL')
      const path = join(folder, '.agents', 'tasks', `${ref.conversation}.json`)
      writeFileSync(path, readFileSync(path, 'utf8').replace('"task 0"', '"reworded"'))
      const successor = runWriter(order({ to: 5 }))
      expect(await successor.ended).toMatchObject({ code: 0 })
      const store = await open()
      const titles = [...(await store.load(ref)).tasks.values()].map(({ title }) => title).sort()
      expect(titles).toEqual(['reworded', 'task 1', 'task 2', 'task 3', 'task 4'])
      await store.close()
    })
  }

  it('[FA1] while the database is being made: the next process begins with a whole one', async () => {
    for (let round = 0; round < inLongRun(20, 2); round += 1) {
      const child = runWriter(order({}))
      await new Promise(resolve => setTimeout(resolve, 90 + Math.random() * 120))
      child.process.kill('SIGKILL')
      await child.ended
      await checkWhole(acknowledged(child))
      held()
      rmSync(folder, { recursive: true })
      mkdirSync(folder)
      await database?.drop()
      if (database) database = await freshDatabase(url)
    }
  })
})

function checkFile(folder: string, titles: readonly string[]): void {
  const tasks = join(folder, '.agents', 'tasks')
  const file = JSON.parse(readFileSync(join(tasks, `${ref.conversation}.json`), 'utf8')) as {
    tasks: { title: string }[]
  }
  expect(file.tasks.map(({ title }) => title).sort()).toEqual([...titles].sort())
  expect(readdirSync(tasks)).toEqual([`${ref.conversation}.json`])
}
