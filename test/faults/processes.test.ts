import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFileStore } from '../../src/store/files/store.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { note, propose, startTurn } from '../store/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { acknowledged, inLongRun, runChild, runWriter } from '../support/children.ts'
import { fault, held } from '../support/faults.ts'
import { checkLedger, wholeLog } from '../support/ledger.ts'
import { scratchFolder } from '../support/scratch.ts'

const ref = { tenant: 'local', conversation: 'shared' }
const PROCESSES = 4

let folder: string
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(() => rmSync(folder, { recursive: true }))
fault('a process that waits while others end')

describe.each([
  { kind: 'sqlite', writes: inLongRun(10_000, 2_000) },
  { kind: 'json', writes: inLongRun(10_000, 300) },
] as const)('several processes on the same $kind', ({ kind, writes }) => {
  fault('processes that write to one place at once')
  const at = (): string => (kind === 'sqlite' ? join(folder, 'runsheet.db') : folder)
  const open = (): Promise<Store> =>
    kind === 'sqlite' ? openSqliteStore({ path: at() }) : openFileStore({ data: folder })

  it(`[FA2] lose none of ${writes} writes`, async () => {
    const share = writes / PROCESSES
    const children = Array.from({ length: PROCESSES }, (_, index) =>
      runWriter({
        store: kind,
        at: at(),
        conversation: ref.conversation,
        from: index * share,
        to: (index + 1) * share,
        abreast: 16,
        tasks: kind === 'json',
      }),
    )
    const acks = new Map<number, number>()
    for (const child of children) {
      expect(await child.ended).toMatchObject({ code: 0, stderr: '' })
      for (const [number, seq] of acknowledged(child)) acks.set(number, seq)
    }
    expect(acks.size).toBe(writes)
    held(1, { 'acknowledged writes, none lost': acks.size })
    const store = await open()
    checkLedger(await wholeLog(store, ref), acks)
    if (kind === 'json') {
      const file = JSON.parse(readFileSync(join(folder, '.agents', 'tasks', 'shared.json'), 'utf8')) as {
        tasks: unknown[]
      }
      expect(file.tasks).toHaveLength(writes)
    }
    await store.close()
  })
})

describe('a lock that another process holds', () => {
  fault('a lock that another process holds')
  it.each([
    ['sqlite', 'runsheet.db', false],
    ['json', 'files.lock', true],
  ] as const)(
    '[SQ7] %s: the event loop goes on, and the write is done once it is free',
    async (kind, file, exclusive) => {
      const store =
        kind === 'sqlite'
          ? await openSqliteStore({ path: join(folder, 'runsheet.db') })
          : await openFileStore({ data: folder })
      const holder = runChild(new URL('../support/lock-holder.ts', import.meta.url), {
        path: join(folder, file),
        exclusive,
      })
      await holder.line(line => line === 'held')
      let answered = false
      const writing = store
        .commit(ref, () => ({ events: [note('w1')], value: null }))
        .then(() => {
          answered = true
        })
      // Thirty turns of a timer, each of which a blocked loop would swallow.
      for (let tick = 0; tick < 30; tick += 1) await new Promise(resolve => setTimeout(resolve, 5))
      expect(answered).toBe(false)
      holder.process.stdin?.end('go\n')
      await writing
      expect((await store.load(ref)).seq).toBe(1)
      await holder.ended
      await store.close()
    },
  )

  it('[SQ7] after four seconds the caller is told that it is busy, and nothing was written', async () => {
    const store = await openSqliteStore({ path: join(folder, 'runsheet.db') })
    const holder = runChild(new URL('../support/lock-holder.ts', import.meta.url), {
      path: join(folder, 'runsheet.db'),
    })
    await holder.line(line => line === 'held')
    await expect(store.commit(ref, () => ({ events: [note('w1')], value: null }))).rejects.toMatchObject({
      code: 'busy',
    })
    holder.process.stdin?.end('go\n')
    await holder.ended
    expect((await store.load(ref)).seq).toBe(0)
    await store.commit(ref, () => ({ events: [note('w1')], value: null }))
    await store.close()
  })
})

describe('starting at once', () => {
  fault('processes that open a new database at once')
  it('[SQ3] many processes that open the same new database all work on one', async () => {
    const children = Array.from({ length: 6 }, (_, index) =>
      runWriter({
        store: 'sqlite',
        at: join(folder, 'new', 'runsheet.db'),
        conversation: 'shared',
        from: index * 10,
        to: index * 10 + 10,
      }),
    )
    for (const child of children) expect(await child.ended).toMatchObject({ code: 0, stderr: '' })
    const store = await openSqliteStore({ path: join(folder, 'new', 'runsheet.db') })
    checkLedger(await wholeLog(store, ref), new Map(children.flatMap(child => [...acknowledged(child)])))
    await store.close()
  })
})

it('[SQ7] opening has patience with processes that are closing', async () => {
  const order = { path: join(folder, 'runsheet.db'), times: inLongRun(300, 15) }
  const children = Array.from({ length: 3 }, () => runChild(new URL('../support/opener.ts', import.meta.url), order))
  for (const child of children) expect(await child.ended).toMatchObject({ code: 0, stderr: '' })
})

it.each(['memory', 'sqlite'])(
  'a program that has nothing to do but wait for a decision waits for it (%s)',
  async kind => {
    const order = kind === 'sqlite' ? { path: join(folder, 'runsheet.db') } : {}
    const child = runChild(new URL('../support/waiter.ts', import.meta.url), order)
    expect(await child.ended).toMatchObject({ code: 0, stderr: '' })
    expect(child.lines).toEqual(['review_timeout'])
  },
)

it('[DO6] a review whose process died is expired by another running process', async () => {
  const path = join(folder, 'runsheet.db')
  const survivor = openDoor({ store: await openSqliteStore({ path }) })
  const victim = openDoor({ store: await openSqliteStore({ path }) })
  await victim.run(ref, startTurn('t1', { review_timeout_ms: 200 }), propose('t1', 'rev-1', 'a'))
  await victim.close()
  expect(await survivor.reviews.await('local', 'rev-1')).toMatchObject({ resolution: { reason: 'review_timeout' } })
  await survivor.close()
})
