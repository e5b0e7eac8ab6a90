import { describe, expect, it, vi } from 'vitest'
import { nextHint, note, run, startTurn } from '../store/contract.ts'
import type { PostgresFaultPoint } from '../../src/store/postgres/commits.ts'
import { Connections } from '../../src/store/postgres/connections.ts'
import type { PostgresStoreOptions } from '../../src/store/postgres/store.ts'
import type { FullStore, Hint, Ref, Store } from '../../src/store/store.ts'
import type { StoreError } from '../../src/store/store-error.ts'
import { inLongRun } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { type MuteProxy, type MuteProxyOptions, muteProxy, type Way } from '../support/mute-proxy.ts'
import { describePostgres, ownDatabase, ownStore } from '../support/postgres-store.ts'
import { atTestEnd } from '../support/test-end.ts'

const ref = { tenant: 'acme', conversation: 'chat-1' }
const KEYED = { ...ref, once: { key: 'k', bodyHash: 'h' } }
const WAYS: readonly Way[] = inLongRun(['out', 'back', 'both'], ['both'])
/** Whether it was written depends on them. */
const COMMIT_WAYS = inLongRun(WAYS, ['out', 'back'])

const LISTENER = 'runsheet-listen'

/** A bit shorter than usual, so that the tests are; long enough for a busy machine. */
const timeoutMs = 3_600

/** A store behind a proxy, with some connections open, and another one with its own. */
async function behindProxy(options: Partial<PostgresStoreOptions> = {}) {
  const url = await ownDatabase()
  const proxy = await muteProxy(url)
  const store = await ownStore({ url: proxy.url, timeoutMs, ...options })
  await Promise.all(Array.from({ length: 10 }, () => store.load(ref)))
  return { proxy, store, direct: await ownStore({ url, timeoutMs }) }
}

/** `expect.poll` does not work in concurrent tests. */
const until = (holds: () => void): Promise<void> => vi.waitFor(holds, { timeout: 20_000, interval: 20 })

const write = (store: Store, at: Ref = ref, text = 'a'): Promise<unknown> =>
  store.commit(at, () => ({ events: [note(text)], value: null }))

async function texts(store: Store): Promise<string[]> {
  const events = await store.eventsAfter(ref, 0, 1_000)
  return events.map(({ data }) => ('text' in data ? data.text : ''))
}

describePostgres.concurrent('postgres: connections that go mute', () => {
  fault('connections to PostgreSQL that go mute')
  describe.for(WAYS)('(%s)', way => {
    it('[PG9] the open ones: calls over them fail in time, and the next ones go over new ones', async () => {
      const { proxy, store } = await behindProxy()
      proxy.mute({ way, which: 'open' })
      const started = performance.now()
      const calls = [
        write(store),
        store.load(ref),
        store.now(),
        store.live.write(ref, { turn_id: 't', message_id: 'm', text: '' }),
        store.templates.list('acme'),
      ]
      for (const outcome of await Promise.allSettled(calls))
        if (outcome.status === 'rejected') expect(['io', 'unknown_outcome']).toContain(outcome.reason.code)
      expect(performance.now() - started).toBeLessThan(5_000)
      await Promise.all([write(store, ref, 'b'), store.load(ref), store.now(), store.templates.list('acme')])
      expect(await texts(store)).toContain('b')
    })

    it('[PG9] all of them: every call fails in time, and the next ones work when the line does', async () => {
      const { proxy, store } = await behindProxy()
      proxy.mute({ way })
      const started = performance.now()
      const calls = [
        write(store),
        store.load(ref),
        store.now(),
        store.due(1),
        store.claim('r1', 1_000, { abilities: ['drive'] }),
      ]
      for (const { status, reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
        expect([status, ['io', 'busy'].includes(reason.code)]).toEqual(['rejected', true])
      }
      expect(performance.now() - started).toBeLessThan(5_000)
      proxy.heal()
      await write(store, ref, 'b')
      expect(await texts(store)).toEqual(['b'])
    })

    it('[PG9] new ones only: a store that is being opened says so', async () => {
      const { proxy } = await behindProxy()
      proxy.mute({ way, which: 'new' })
      await expect(ownStore({ url: proxy.url, timeoutMs })).rejects.toMatchObject({ code: 'io' })
    })
  })

  it('[PG9] close ends, though nobody answers', async () => {
    const { proxy, store } = await behindProxy()
    listening(store)
    proxy.mute()
    const late = Promise.allSettled([write(store), store.load(ref)])
    await store.close()
    for (const { status } of await late) expect(status).toBe('rejected')
  })

  it('[PG9][ST9] the turn of a node that is gone is claimed', async () => {
    let skew = 0
    const { proxy, store, direct } = await behindProxy({ skewMs: () => skew })
    await direct.commit(ref, run(startTurn('t1')))
    await direct.claim('gone', 600_000, { abilities: ['drive'] })
    proxy.mute({ which: 'open' })
    await store.now().catch(() => {})
    expect(await store.claim('r2', 1_000, { abilities: ['drive'] })).toBeUndefined()
    skew = 600_001
    expect(await store.claim('r2', 1_000, { abilities: ['drive'] })).toMatchObject({ turn: 't1', attempt: 2 })
  })
})

describePostgres.concurrent('postgres: a COMMIT whose answer does not come', () => {
  fault('a COMMIT whose answer does not come')
  it.for(COMMIT_WAYS)('[PG9] (%s) with a key: it is asked for over a new connection, and written once', async way => {
    const { store, direct } = await muteAt('committing', { way, which: 'open' })
    expect(await store.commit(KEYED, () => ({ events: [note('a')], value: 1 }))).toMatchObject({ value: 1 })
    expect(await texts(direct)).toEqual(['a'])
  })

  it.for(COMMIT_WAYS.filter(way => way !== 'out'))('[PG9] (%s) without a key: its outcome is unknown', async way => {
    const { store } = await muteAt('committing', { way, which: 'open' })
    await expect(write(store)).rejects.toMatchObject({ code: 'unknown_outcome' })
  })

  it('(out) without a key: the server tells that it ended the transaction, so its outcome is known', async () => {
    const { store, direct } = await muteAt('committing', { way: 'out', which: 'open' })
    const outcome = await write(store).then(
      () => 'written',
      ({ code }: StoreError) => code,
    )
    expect(['written', 'io']).toContain(outcome)
    expect(await texts(direct)).toEqual(outcome === 'written' ? ['a'] : [])
  })

  it('[PG9] with a key, but nobody to ask: its outcome is unknown', async () => {
    const { store } = await muteAt('committing', { way: 'back' })
    const lost = store.commit(KEYED, () => ({ events: [note('a')], value: 1 }))
    await expect(lost).rejects.toMatchObject({ code: 'unknown_outcome' })
  })
})

describePostgres.concurrent('postgres: a transaction whose client has gone mute', () => {
  fault('a client that goes mute within a transaction (postgres)')
  it.for([
    ['begun', 'io'],
    ['staged', 'io'],
    ['written', 'unknown_outcome'],
  ] as const)('(%s) is ended by the server; the client is told %s', async ([point, code]) => {
    const { store, direct } = await muteAt(point, {})
    const lost = expect(write(store)).rejects.toMatchObject({ code })
    await write(direct, ref, 'b')
    await lost
    expect(await texts(direct)).toEqual(['b'])
  })
})

describePostgres.concurrent('postgres: a listener that goes mute', () => {
  fault('a listener that goes mute')
  it.for(WAYS)('(%s) is replaced, and what was written meanwhile is heard', async way => {
    const { proxy, store, direct } = await behindProxy()
    const listeners = (): number =>
      proxy.startups.filter(({ application_name }) => application_name === LISTENER).length
    const hints = listening(store)
    await until(() => expect(listeners()).toBe(1))
    proxy.mute({ way, which: 'open', name: LISTENER })
    await write(direct, { tenant: 'acme', conversation: 'meanwhile' })
    await nextHint(hints, { tenant: 'acme', conversation: 'meanwhile' })
    await until(() => expect(listeners()).toBe(2))
    await write(direct, { tenant: 'acme', conversation: 'afterwards' })
    await nextHint(hints, { tenant: 'acme', conversation: 'afterwards' })
  })
})

describePostgres.concurrent('postgres: what a session is told', () => {
  fault('connections to PostgreSQL that go mute')
  it('nothing at its start that a pooler would refuse', async () => {
    const { proxy, store } = await behindProxy()
    listening(store)
    await until(() => expect(proxy.startups.map(startup => startup['application_name'])).toContain(LISTENER))
    for (const startup of proxy.startups) {
      expect(Object.keys(startup).sort()).toEqual(['application_name', 'client_encoding', 'database', 'user'])
    }
  })

  it('its limits once it is open, so that the server gives up on a client that is gone', async () => {
    expect(await settings({})).toEqual({
      statement_timeout: `${timeoutMs}ms`,
      lock_timeout: `${timeoutMs - 500}ms`,
      idle_in_transaction_session_timeout: `${timeoutMs / 2}ms`,
      tcp_user_timeout: String(timeoutMs),
      client_connection_check_interval: '1s',
    })
  })

  it('nothing behind a pooler, where others use the same session', async () => {
    const told = await settings({ isPooler: true })
    expect(new Set(Object.values(told))).toEqual(new Set(['0']))
  })
})

/** A store that is muted once, at one point of its first commit. */
async function muteAt(fault: PostgresFaultPoint, muting: Parameters<MuteProxy['mute']>[0]) {
  let isArmed = true
  const opened: { proxy: MuteProxy; store: FullStore; direct: FullStore } = await behindProxy({
    onFaultPoint: point => {
      if (point !== fault || !isArmed) return
      isArmed = false
      opened.proxy.mute(muting)
    },
  })
  return opened
}

/** What holds in a session of the store. */
async function settings(options: MuteProxyOptions): Promise<Record<string, unknown>> {
  const { url } = await muteProxy(await ownDatabase(), options)
  const connections = new Connections(url, 1, timeoutMs)
  atTestEnd(() => connections.close())
  const names = [
    'statement_timeout',
    'lock_timeout',
    'idle_in_transaction_session_timeout',
    'tcp_user_timeout',
    'client_connection_check_interval',
  ]
  const shown = names.map(name => `current_setting('${name}') AS ${name}`)
  const [row] = await connections.query(`SELECT ${shown.join(', ')}`, [])
  return row ?? {}
}

function listening(store: Store): AsyncIterator<Hint> {
  const stop = new AbortController()
  atTestEnd(() => stop.abort())
  return store.changes(stop.signal)[Symbol.asyncIterator]()
}
