import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { note } from '../store/contract.ts'
import { openSqliteStore, type SqliteFaultPoint } from '../../src/store/sqlite/store.ts'
import { acknowledged, type Child, inLongRun, runChild, runCli, runWriter } from '../support/children.ts'
import { answered, fault } from '../support/faults.ts'
import { checkLedger, wholeLog } from '../support/ledger.ts'
import { scratchFolder } from '../support/scratch.ts'

const ref = { tenant: 'local', conversation: 'shared' }
const WRITES = 20

const BUSY = { status: 503, retry: '1', code: 'busy' }

/** What the log says of a lock that is held for too long. */
const HELD = 'find it with "fuser'

const POINTS: readonly SqliteFaultPoint[] = ['begun', 'staged', 'written']

/** A server, and a process that is stopped in the middle of a transaction on the same database. */
interface Frozen {
  readonly data: string
  readonly server: Child
  readonly writer: Child
  readonly url: string
  readonly token: string
}

async function withFrozen(
  kind: 'sqlite' | 'json',
  point: SqliteFaultPoint,
  work: (frozen: Frozen) => Promise<void>,
): Promise<void> {
  const data = scratchFolder()
  const children: Child[] = []
  try {
    const store = kind === 'sqlite' ? 'sqlite' : 'file'
    const server = runCli(['serve', '--port', '0', '--data', data, '--store', store])
    children.push(server)
    const [url = ''] = /http:\S+?(?=#)/.exec(await server.line(line => line.startsWith('Runsheet is ready'))) ?? []
    const token = readFileSync(join(data, 'person-token'), 'utf8').trim()
    await createClient({ url, token }).setPolicy('c1', { review: true })
    const writer = runWriter({
      store: kind,
      at: kind === 'sqlite' ? join(data, 'runsheet.db') : data,
      conversation: ref.conversation,
      from: 0,
      to: WRITES,
      dieAt: { point, nth: 10, signal: 'SIGSTOP' },
    })
    children.push(writer)
    await writer.line(line => line === `at ${point}`)
    await work({ data, server, writer, url, token })
  } finally {
    for (const child of children) {
      child.process.kill('SIGKILL')
      await child.ended
    }
    rmSync(data, { recursive: true })
  }
}

/** How that many writes at once are answered. */
async function answers(
  { url, token }: Frozen,
  count: number,
): Promise<{ status: number; retry: string | null; code: unknown }[]> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const write = async (index: number) => {
    const body = JSON.stringify({ review: index % 2 === 0 })
    const answer = await answered(
      fetch(new URL(`/api/sessions/c${index}/policy`, url), { method: 'PUT', headers, body }),
    )
    const { error } = (await answer.json()) as { error?: { code: string } }
    return { status: answer.status, retry: answer.headers.get('retry-after'), code: error?.code }
  }
  return Promise.all(Array.from({ length: count }, (_, index) => write(index + 1)))
}

const readiness = async ({ url }: Frozen): Promise<number> => (await fetch(new URL('/readyz', url))).status

describe.concurrent('a process that is stopped within a transaction', () => {
  fault('a process frozen within a transaction (SQLite)')
  it.each(inLongRun(POINTS, POINTS.slice(2)))(
    'after "%s": others answer busy and go on reading; once it is resumed nothing is lost',
    point =>
      withFrozen('sqlite', point, async frozen => {
        const { server, writer, data } = frozen
        const person = createClient(frozen)
        for (const answer of await answers(frozen, 30)) expect(answer).toEqual(BUSY)
        expect((await person.session('c1')).seq).toBe(1)
        expect((await person.session(ref.conversation)).seq).toBe(10)
        expect(await readiness(frozen)).toBe(503)

        writer.process.kill('SIGCONT')
        expect(await writer.ended).toMatchObject({ code: 0, stderr: '' })
        for (const answer of await answers(frozen, 30)) expect(answer.status).toBe(200)
        // A probe that began before may still be under way.
        await vi.waitFor(async () => expect(await readiness(frozen)).toBe(200), { timeout: 20_000 })

        server.process.kill()
        const { stderr } = await server.ended
        const said = stderr.split('\n').filter(line => line.includes('storage failed'))
        expect(said).toHaveLength(1)
        expect(JSON.parse(said[0] ?? '').err.detail).toContain(HELD)
        const store = await openSqliteStore({ path: join(data, 'runsheet.db') })
        checkLedger(await wholeLog(store, ref), acknowledged(writer))
        await store.close()
      }),
  )

  it('however many wait: they are told together, not one after the other', { timeout: 20_000 }, async () => {
    const folder = scratchFolder()
    const path = join(folder, 'runsheet.db')
    const store = await openSqliteStore({ path })
    const holder = runChild(new URL('../support/lock-holder.ts', import.meta.url), { path })
    await holder.line(line => line === 'held')
    const waiting = [
      store.commit(ref, () => ({ events: [], value: null })),
      ...Array.from({ length: 8 }, (_, index) => store.claim(`r${index}`, 1_000, { abilities: ['drive'] })),
    ]
    const outcomes = await Promise.allSettled(waiting)
    // The same error, so that it is logged once.
    const [first, ...others] = outcomes.map(outcome => outcome.status === 'rejected' && (outcome.reason as unknown))
    expect(first).toMatchObject({ code: 'busy', detail: expect.stringContaining(HELD) })
    for (const other of others) expect(other).toBe(first)
    holder.process.stdin?.end('go\n')
    await holder.ended
    await store.commit(ref, () => ({ events: [note('w1')], value: null }))
    await store.close()
    rmSync(folder, { recursive: true })
  })

  it('once it is killed, others go on without what it had not committed', () =>
    withFrozen('sqlite', 'written', async frozen => {
      const { writer, data, server } = frozen
      writer.process.kill('SIGKILL')
      await writer.ended
      for (const answer of await answers(frozen, 3)) expect(answer.status).toBe(200)
      server.process.kill()
      await server.ended
      const store = await openSqliteStore({ path: join(data, 'runsheet.db') })
      checkLedger(await wholeLog(store, ref), acknowledged(writer))
      await store.close()
    }))

  it('with JSON files, too', () =>
    withFrozen('json', 'written', async frozen => {
      for (const answer of await answers(frozen, 10)) expect(answer).toEqual(BUSY)
      expect((await createClient(frozen).session('c1')).seq).toBe(1)
      frozen.writer.process.kill('SIGCONT')
      expect(await frozen.writer.ended).toMatchObject({ code: 0, stderr: '' })
      for (const answer of await answers(frozen, 10)) expect(answer.status).toBe(200)
    }))
})
