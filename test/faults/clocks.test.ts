import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it, vi } from 'vitest'
import { type Client, createClient } from '../../src/client/client.ts'
import { type Child, inLongRun, runCli } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { freshDatabase } from '../support/postgres.ts'
import { scratchFolder } from '../support/scratch.ts'

const HOUR_MS = 3_600_000
/** Longer than the time between two looks for due reviews. */
const TIMEOUT_MS = 3_000

interface Served {
  readonly person: Client
  readonly agent: Client
  /** Resolves once the clock has jumped. */
  readonly jump: () => Promise<void>
  readonly kill: () => Promise<void>
}

const PRELOAD = `--import=${new URL('../support/jumping-clock.ts', import.meta.url).href}`

/** Runs servers on one store, one after the other. */
async function withStore(
  kind: string,
  work: (serve: (jump: number) => Promise<Served>) => Promise<void>,
): Promise<void> {
  const data = scratchFolder()
  const database = kind === 'postgres' ? await freshDatabase(inject('postgresUrl')) : undefined
  const children: Child[] = []
  const serve = async (jump: number): Promise<Served> => {
    const env = { NODE_OPTIONS: PRELOAD, CLOCK_JUMP_MS: String(jump) }
    const child = runCli(['serve', '--port', '0', '--data', data, '--store', database?.url ?? kind], { env })
    children.push(child)
    const [url = ''] = /http:\S+?(?=#)/.exec(await child.line(line => line.startsWith('Runsheet is ready'))) ?? []
    const client = (role: string): Client =>
      createClient({ url, token: readFileSync(join(data, `${role}-token`), 'utf8').trim() })
    return {
      person: client('person'),
      agent: client('agent'),
      jump: async () => {
        child.process.kill('SIGUSR2')
        await child.line(line => line === 'the clock jumped')
      },
      kill: () => ended(child),
    }
  }
  try {
    await work(serve)
  } finally {
    for (const child of children) await ended(child)
    await database?.drop()
    rmSync(data, { recursive: true })
  }
}

async function ended(child: Child): Promise<void> {
  child.process.kill('SIGKILL')
  await child.ended
}

/** A review with a deadline, and when it was surely open. */
async function open(
  { person, agent }: Served,
  session: string,
  review_timeout_ms = TIMEOUT_MS,
): Promise<{ id: string; since: number }> {
  await person.setPolicy(session, { review: true, review_timeout_ms })
  const since = performance.now()
  // Not awaited: it is answered with the review.
  void agent
    .call('runsheet', 'plan', {
      session_id: session,
      turn_id: 't',
      tool_call_id: 'call-1',
      arguments: { tasks: [{ title: 'one' }] },
    })
    .catch(() => undefined)
  const id = await until(async () => (await person.pendingReviews(session)).reviews[0]?.review_id)
  return { id, since }
}

/** The first value that there is. Unlike `expect.poll` it may run beside other tests. */
const until = <T>(look: () => Promise<T | undefined>): Promise<T> =>
  vi.waitFor(
    async () => {
      const found = await look()
      if (found === undefined) throw new Error('not yet')
      return found
    },
    { interval: 20, timeout: 20_000 },
  )

/** Resolves once the review is over, with how. */
const outcomeOf = ({ person }: Served, id: string): Promise<string> =>
  until(async () => {
    const { status } = (await person.review(id)).review
    return status === 'pending' ? undefined : status
  })

const timestamps = async ({ person }: Served, session: string): Promise<string[]> =>
  (await person.timeline(session)).events.map(({ timestamp }) => timestamp)

const stores = inLongRun(['sqlite', 'file', 'memory', 'postgres'], ['sqlite', 'postgres'])
const jumps: readonly (readonly [string, number])[] = [
  ['ahead', HOUR_MS],
  ['back', -HOUR_MS],
]

fault('a clock that jumps by an hour')

describe.concurrent.each(stores)('a wall clock that jumps while a review is pending (%s)', kind => {
  it.each(jumps)('[DO6][EV5] an hour %s: the review ends after its own time, and no timestamp is earlier', (_, jump) =>
    withStore(kind, async serve => {
      const server = await serve(jump)
      const { id, since } = await open(server, 'c1')
      await server.jump()
      expect(await outcomeOf(server, id)).toBe('expired')
      expect(performance.now() - since).toBeGreaterThanOrEqual(TIMEOUT_MS)
      const times = await timestamps(server, 'c1')
      expect(times).toEqual(times.toSorted())
    }),
  )
})

describe.concurrent('a wall clock that jumps', () => {
  it('[DO6] an hour ahead: a person can still decide what is pending', () =>
    withStore('sqlite', async serve => {
      const server = await serve(HOUR_MS)
      const { id } = await open(server, 'c1')
      await server.jump()
      await server.person.decide(id, { action: 'confirm', tasks: [{ title: 'one' }] })
      expect(await outcomeOf(server, id)).toBe('confirmed')
    }))

  it.each(inLongRun(jumps, jumps.slice(1)))(
    '[DO6] an hour %s: the store follows it once no deadline is pending',
    (_, jump) =>
      withStore('sqlite', async serve => {
        const server = await serve(jump)
        const { id } = await open(server, 'c1')
        await server.jump()
        await outcomeOf(server, id)
        const off = async (): Promise<number> => {
          const session = `new-${performance.now()}`.replace('.', '-')
          await server.person.setPolicy(session, { review: true })
          const { updated_at } = (await server.person.session(session)).session
          return Math.round((Date.parse(updated_at) - Date.now()) / HOUR_MS)
        }
        await until(async () => ((await off()) === Math.sign(jump) ? true : undefined))
      }),
  )
})
