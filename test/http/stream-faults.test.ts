import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, it } from 'vitest'
import type { Command } from '../../src/core/model/command.ts'
import { openDoor, type Ref } from '../../src/engine/door/door.ts'
import { add, finish, note, openTurn, startTurn } from '../store/contract.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { StoreError } from '../../src/store/store-error.ts'
import type { Store } from '../../src/store/store.ts'
import { inLongRun, runWriter } from '../support/children.ts'
import { fault, held } from '../support/faults.ts'
import { wholeLog } from '../support/ledger.ts'
import { freshDatabase } from '../support/postgres.ts'
import { scratchFolder } from '../support/scratch.ts'
import { startServer, TOKENS, type TestServer } from '../support/server.ts'
import {
  eventually,
  figure,
  follow,
  readers,
  ResumingReader,
  type SseReader,
  SseReader as Line,
  storeWith,
} from '../support/sse.ts'

const ref: Ref = { tenant: 'local', conversation: 'chat' }
const url = inject('postgresUrl')

/** What a test has opened, closed in the opposite order. */
const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

async function serve(options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  const server = await startServer(options)
  opened.push(server.close)
  return server
}
async function serveOn(store: Store, options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  return serve({ ...options, door: openDoor({ store }) })
}
async function joined(server: TestServer, options: Parameters<typeof follow>[2] = {}): Promise<SseReader> {
  const line = await follow(server, 'chat', options)
  opened.push(() => line.cut())
  return line
}

const say = (text: string): Command => ({
  type: 'record',
  turn_id: 't1',
  fact: { type: 'message_added', data: { message_id: 'm', role: 'assistant', text } },
})
const countTo = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at)
const upTo = (most: number): number => Math.floor(Math.random() * most)
const aMoment = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 1))

/** A place that this process and others can open. */
async function sharedPlace(kind: 'sqlite' | 'postgres'): Promise<{ at: string; open: () => Promise<Store> }> {
  if (kind === 'postgres') {
    const database = await freshDatabase(url)
    opened.push(database.drop)
    return { at: database.url, open: () => openPostgresStore({ url: database.url }) }
  }
  const folder = scratchFolder()
  opened.push(() => rmSync(folder, { recursive: true }))
  const at = join(folder, 'runsheet.db')
  return { at, open: () => openSqliteStore({ path: at }) }
}

/** Comes back again and again, each time cut at a random byte or at a random moment. */
async function storm(reader: ResumingReader, servers: readonly TestServer[], until: () => boolean): Promise<void> {
  for (let index = 0; !until(); index += 1) {
    const { url: at } = servers[index % servers.length] as TestServer
    if (index % 2 === 0) await reader.connect(at, Number.POSITIVE_INFINITY, 1 + upTo(6_000), 1_000)
    else await reader.connect(at, Number.POSITIVE_INFINITY, undefined, upTo(12))
  }
}

const connections = (all: readonly ResumingReader[]): number =>
  all.reduce((sum, { connections }) => sum + connections, 0)
const slowest = (all: readonly ResumingReader[]): number => Math.min(...all.map(({ seq }) => seq))

/** The last connection: to the head, and then it must have seen exactly the log. */
async function hasSeenTheLog(reader: ResumingReader, server: TestServer): Promise<void> {
  const log = await wholeLog(server.door.conversations, ref)
  if (reader.seq < log.length) await reader.connect(server.url, log.length)
  expect(reader.events.map(({ seq }) => seq)).toEqual(countTo(1, log.length))
  expect(reader.events).toEqual(log)
  expect(reader.strays).toEqual([])
  expect(reader.resets).toBe(0)
}

const DOORS = (
  [
    { kind: 'memory', cuts: inLongRun(1_000, 80) },
    { kind: 'sqlite', cuts: inLongRun(1_000, 40) },
    { kind: 'postgres', cuts: inLongRun(1_000, 40) },
  ] as const
).filter(({ kind }) => kind !== 'postgres' || url !== '')
const SHARED = (['sqlite', 'postgres'] as const).filter(kind => kind !== 'postgres' || url !== '')

describe('cut lines', () => {
  fault('event streams that are cut at random bytes and moments')
  const READERS = 4

  it.each(DOORS)(
    '[SS2] on $kind, with 16 writers and $cuts cuts, every client has seen exactly the log',
    async ({ kind, cuts }) => {
      const server = await serve({ store: kind })
      await server.door.run(ref, openTurn('t1'))
      const all = Array.from({ length: READERS }, () => new ResumingReader('chat'))
      const storming = new AbortController()
      const writers = countTo(1, 16).map(async writer => {
        for (let number = 0; !storming.signal.aborted; number += 1) {
          const { conversation } = await server.door.run(ref, say(`${writer} ${number} ${'ä'.repeat(upTo(200))}`))
          // Not too far ahead, so that cuts fall into replay, into the step to live, and into live.
          while (!storming.signal.aborted && conversation.seq - slowest(all) > 400) await aMoment()
        }
      })
      await Promise.all(all.map(reader => storm(reader, [server], () => reader.connections >= cuts / READERS)))
      storming.abort()
      await Promise.all(writers)
      for (const reader of all) await hasSeenTheLog(reader, server)
      held(connections(all))
      await eventually(async () => (await readers(server)) === 0)
    },
  )

  it.each(SHARED)('[SS2] on %s, the same where another process writes', async kind => {
    const place = await sharedPlace(kind)
    const server = await serveOn(await place.open())
    const total = inLongRun(6_000, 800)
    const writer = runWriter({ store: kind, at: place.at, conversation: 'chat', from: 0, to: total, abreast: 16 })
    opened.push(() => writer.process.kill('SIGKILL'))
    await writer.line(line => line === 'ready')
    const all = Array.from({ length: READERS }, () => new ResumingReader('chat'))
    const stays = await joined(server)
    await Promise.all(all.map(reader => storm(reader, [server], () => reader.seq >= total / 2)))
    expect(await writer.ended).toMatchObject({ code: 0, stderr: '' })
    await stays.reached(total + 2)
    expect(stays.seqs).toEqual(countTo(1, total + 2))
    for (const reader of all) await hasSeenTheLog(reader, server)
    held(connections(all))
  })

  it.each(SHARED)('[SS2] on %s, the same for a client that resumes at another server each time', async kind => {
    const place = await sharedPlace(kind)
    const servers = [await serveOn(await place.open()), await serveOn(await place.open())]
    const [first, second] = servers as [TestServer, TestServer]
    await first.door.run(ref, openTurn('t1'))
    // These keep both tails going, so that the other one's lags behind what a client has seen already.
    await Promise.all(servers.map(server => joined(server)))
    const storming = new AbortController()
    const all = [new ResumingReader('chat'), new ResumingReader('chat')]
    const writers = countTo(1, 4).map(async writer => {
      for (let number = 0; !storming.signal.aborted; number += 1) {
        await (writer === 4 ? second : first).door.run(ref, say(`${writer} ${number}`))
        await aMoment()
      }
    })
    await Promise.all(all.map(reader => storm(reader, servers, () => reader.connections >= inLongRun(400, 30))))
    storming.abort()
    await Promise.all(writers)
    await hasSeenTheLog(all[0] as ResumingReader, first)
    await hasSeenTheLog(all[1] as ResumingReader, second)
    held(connections(all))
  })
})

describe('a reader that is ahead of the server it comes to', () => {
  fault('a reader that is ahead of the server it comes to')
  /** A server that is not told of what is written elsewhere until it is let. */
  async function behind(): Promise<{ server: TestServer; elsewhere: Store; catchUp: () => void }> {
    const elsewhere = openMemoryStore()
    const told = Promise.withResolvers<void>()
    const deaf = storeWith(elsewhere, {
      async *changes(signal) {
        const hints = elsewhere.changes(signal)
        await told.promise
        yield* hints
      },
    })
    const server = await serveOn(deaf)
    await server.door.run(ref, openTurn('t1'), add('t1', 'a'))
    const line = await joined(server)
    await line.until(({ frames }) => frames.length === 5)
    return { server, elsewhere, catchUp: told.resolve }
  }

  it.each([4, 5, 6])(
    '[SS2][SS4] resumes from %i of 6 without a gap, and its list is as of what it has seen',
    async at => {
      const { server, catchUp } = await behind()
      await server.door.run(ref, add('t1', 'b'))
      await server.door.run(ref, add('t1', 'c'))
      await server.door.run(ref, add('t1', 'd'))
      const line = await joined(server, { lastEventId: at })
      catchUp()
      await line.until(reader => reader.asides('todos_current').at(-1)?.data['as_of_seq'] === 6)
      expect(line.seqs).toEqual(countTo(at + 1, 6))
      expect(line.asides('reset')).toEqual([])
      const seen = line.asides('todos_updated').map(({ data }) => Number(data['as_of_seq']))
      expect(Math.min(...seen)).toBeGreaterThanOrEqual(at)
      await server.door.run(ref, add('t1', 'e'))
      await line.reached(7)
      expect(line.seqs).toEqual(countTo(at + 1, 7))
    },
  )

  it('[SS2] is reset if it is ahead of the log itself', async () => {
    const { server, catchUp } = await behind()
    await server.door.run(ref, add('t1', 'b'))
    const line = await joined(server, { lastEventId: 5 })
    catchUp()
    await line.reached(4)
    expect(line.frames[0]).toMatchObject({ event: 'reset', data: { data: { seq: 4 } } })
    expect(line.seqs).toEqual([1, 2, 3, 4])
  })
})

describe('slow readers', () => {
  fault('readers that do not read, or slowly')
  const BIG = 'x'.repeat(100_000)
  const write = (server: TestServer, text = BIG): Promise<unknown> => server.door.run(ref, say(text))

  it('[SS6] a reader that does not read is disconnected, holds no memory, and resumes without a gap; others do not notice', async () => {
    const server = await serve()
    await server.door.run(ref, openTurn('t1'))
    const healthy = await joined(server)
    const slow = await joined(server)
    await slow.reached(2)
    slow.stopReading()
    let seq = 2
    // What the kernel takes on both sides comes first; then our own limit is reached, and the line is cut.
    while ((await figure(server, 'runsheet_stream_cuts')) === 0) {
      for (let index = 0; index < 10; index += 1) await write(server)
      seq += 10
      await healthy.reached(seq)
      expect(seq).toBeLessThan(1_000)
    }
    await eventually(async () => (await readers(server)) === 1)
    for (let index = 0; index < 10; index += 1) await write(server)
    await healthy.reached(seq + 10)
    slow.goOnReading()
    expect(await slow.over).toBe('end')
    const last = slow.seqs.at(-1) ?? 0
    expect(slow.seqs).toEqual(countTo(1, last))
    expect(last).toBeLessThan(seq)
    const back = await joined(server, { lastEventId: last })
    await back.reached(seq + 10)
    expect(back.seqs).toEqual(countTo(last + 1, seq + 10))
    expect(healthy.seqs).toEqual(countTo(1, seq + 10))
    expect(await figure(server, 'runsheet_stream_cuts')).toBe(1)
  })

  it('[SS6] a reader that stops during a long replay gets no more: only what it takes is read from the log', async () => {
    const store = openMemoryStore()
    let reads = 0
    const server = await serveOn(
      storeWith(store, {
        eventsAfter: (...args) => {
          reads += 1
          return store.eventsAfter(...args)
        },
      }),
    )
    await server.door.run(ref, openTurn('t1'))
    const many = Array.from({ length: 1_000 }, () => note(BIG))
    await store.commit(ref, () => ({ events: many, value: null }))
    const slow = await joined(server)
    slow.stopReading()
    await eventually(async () => {
      const before = reads
      await new Promise(resolve => setTimeout(resolve, 50))
      return reads > 0 && reads === before
    })
    // Of 500 pages.
    expect(reads).toBeLessThan(100)
    slow.goOnReading()
    await slow.reached(1_002)
    expect(slow.seqs).toEqual(countTo(1, 1_002))
  })

  it('[SS6] events larger than the limit reach a reader that reads, live and in the replay', async () => {
    const server = await serve()
    await server.door.run(ref, openTurn('t1'))
    const huge = 'y'.repeat(3_000_000)
    const reader = new ResumingReader('chat')
    const following = (async () => {
      while (reader.seq < 26) await reader.connect(server.url, 26)
    })()
    for (let index = 0; index < 8; index += 1) {
      await write(server, huge)
      await Promise.all([write(server, 'small'), write(server, 'small')])
    }
    await following
    await hasSeenTheLog(reader, server)
    // Each cut brought it further.
    expect(reader.connections).toBeLessThan(20)
  })

  it('[SS6] heartbeats do not disconnect a reader that is still taking a long replay', async () => {
    const server = await serve({ heartbeatMs: 2 })
    await server.door.run(ref, openTurn('t1'))
    await server.door.run(ref, ...Array.from({ length: 6 }, () => say('z'.repeat(5_000_000))))
    const line = await joined(server)
    // It reads, but with pauses: in each of them several heartbeats are due.
    while (!line.isOver && (line.seqs.at(-1) ?? 0) < 8) {
      line.stopReading()
      await new Promise(resolve => setTimeout(resolve, 10))
      line.goOnReading()
      await aMoment()
    }
    expect(line.seqs).toEqual(countTo(1, 8))
    expect(await figure(server, 'runsheet_stream_cuts')).toBe(0)
  })
})

describe('storage that fails', () => {
  fault('storage that fails under a stream')
  it('[SS2] an error in a tail ends the streams; clients that resume miss nothing', async () => {
    const store = openMemoryStore()
    let failing = false
    const server = await serveOn(
      storeWith(store, {
        eventsAfter: async (...args) => {
          if (failing) throw new StoreError('io', 'The disk is gone.')
          return store.eventsAfter(...args)
        },
      }),
    )
    await server.door.run(ref, openTurn('t1'))
    const all = await Promise.all([joined(server), joined(server), joined(server)])
    await Promise.all(all.map(line => line.reached(2)))
    failing = true
    await server.door.run(ref, say('a'))
    expect(await Promise.all(all.map(({ over }) => over))).toEqual(['end', 'end', 'end'])
    await eventually(async () => (await readers(server)) === 0)
    expect(server.logged()).toContain('The disk is gone.')
    failing = false
    const back = await joined(server, { lastEventId: 2 })
    await server.door.run(ref, say('b'))
    await back.reached(4)
    expect(back.seqs).toEqual([3, 4])
  })

  it('[SS2] an error in the middle of a replay ends that stream, is logged, and does not count as a slow reader', async () => {
    const store = openMemoryStore()
    let failing = true
    const server = await serveOn(
      storeWith(store, {
        eventsAfter: async (at, seq, limit) => {
          if (failing && seq >= 100 && seq < 250) throw new StoreError('io', 'The disk is gone.')
          return store.eventsAfter(at, seq, limit)
        },
      }),
    )
    await store.commit(ref, () => ({ events: Array.from({ length: 250 }, () => note('x')), value: null }))
    const reader = new ResumingReader('chat')
    await reader.connect(server.url, 250)
    expect(reader.seq).toBe(100)
    expect(await figure(server, 'runsheet_stream_cuts')).toBe(0)
    expect(server.logged()).toContain('The disk is gone.')
    failing = false
    await reader.connect(server.url, 250)
    await hasSeenTheLog(reader, server)
  })

  it('a store that cannot be read is said before the stream begins, and takes no place', async () => {
    const store = openMemoryStore()
    let failing = true
    const server = await serveOn(
      storeWith(store, {
        load: async at => {
          if (failing) throw new StoreError('busy', 'Busy.')
          return store.load(at)
        },
      }),
      { maxRequests: 1 },
    )
    await server.door.run(ref, openTurn('t1'))
    const answer = await server.ask('GET', '/api/sessions/chat/events')
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ error: { code: 'busy' } })
    failing = false
    await (await joined(server)).reached(2)
  })
})

describe('awkward moments', () => {
  fault('streams that open and close at awkward moments')
  /** A server whose store opens conversations only once it is let. */
  async function hesitant(options: Parameters<typeof startServer>[0] = {}): Promise<{
    server: TestServer
    asked: Promise<void>
    open: () => void
  }> {
    const store = openMemoryStore()
    const asked = Promise.withResolvers<void>()
    const let_ = Promise.withResolvers<void>()
    const server = await serveOn(
      storeWith(store, {
        load: async at => {
          if (at.conversation === 'other') return store.load(at)
          asked.resolve()
          await let_.promise
          return store.load(at)
        },
      }),
      options,
    )
    await store.commit(ref, () => ({ events: [note('a'), note('b')], value: null }))
    await store.commit({ ...ref, conversation: 'other' }, () => ({ events: [note('a')], value: null }))
    return { server, asked: asked.promise, open: let_.resolve }
  }

  it('a heartbeat that falls due before the headers does not take their place', async () => {
    const { server, asked, open } = await hesitant({ heartbeatMs: 2 })
    const line = new Line(server.url, 'chat', {})
    const unknown = new Line(server.url, 'nowhere', {})
    opened.push(
      () => line.cut(),
      () => unknown.cut(),
    )
    await asked
    const other = await follow(server, 'other')
    await other.until(({ comments }) => comments >= 5)
    other.cut()
    open()
    await Promise.all([line.opened, unknown.opened])
    expect(line.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    await line.reached(2)
    expect(unknown.status).toBe(404)
  })

  it('a client that leaves while its stream is being opened leaves nothing behind', async () => {
    const { server, asked, open } = await hesitant()
    const line = new Line(server.url, 'chat', {})
    await asked
    expect(await readers(server)).toBe(1)
    line.cut()
    await eventually(async () => (await readers(server)) === 0)
    open()
    const back = await joined(server)
    await back.reached(2)
    expect(await readers(server)).toBe(1)
    expect(await figure(server, 'runsheet_stream_cuts')).toBe(0)
  })

  it('[SS1][CL2] a stream that is being opened when the server closes ends as an event stream', async () => {
    const { server, asked, open } = await hesitant()
    const line = new Line(server.url, 'chat', {})
    await asked
    const closed = server.server.close(10_000)
    open()
    await line.opened
    expect(line.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(await line.over).toBe('end')
    await closed
  })

  it('the last reader leaves as the next one joins, many times over', async () => {
    const server = await serve({ store: 'sqlite' })
    await server.door.run(ref, openTurn('t1'))
    let seq = 2
    for (let round = 0; round < 60; round += 1) {
      const line = new Line(server.url, 'chat', { lastEventId: seq })
      if (round % 3 === 0) await line.opened
      const before = seq
      const writing = Array.from({ length: 3 }, () => server.door.run(ref, say(`${(seq += 1)}`)))
      const next = new Line(server.url, 'chat', { lastEventId: before })
      if (round % 2 === 0) line.cut()
      await Promise.all(writing)
      await next.reached(seq)
      expect(next.seqs).toEqual(countTo(before + 1, seq))
      line.cut()
      next.cut()
    }
    await eventually(async () => (await readers(server)) === 0)
  })

  it('text that was finished while it was being looked up is not sent after its end', async () => {
    const store = openMemoryStore()
    const asked = Promise.withResolvers<void>()
    const let_ = Promise.withResolvers<void>()
    const server = await serveOn(
      storeWith(store, {
        live: {
          write: (at, entry) => store.live.write(at, entry),
          clear: at => store.live.clear(at),
          read: async at => {
            const entry = await store.live.read(at)
            asked.resolve()
            await let_.promise
            return entry
          },
        },
      }),
    )
    await server.door.run(ref, startTurn('t1'))
    await server.door.liveText.write(ref, { turn_id: 't1', message_id: 'm7', text: 'so far' })
    const { seq } = await server.door.read(ref)
    const line = await joined(server, { lastEventId: seq })
    await asked.promise
    const { conversation } = await server.door.run(ref, finish('t1'))
    await line.reached(conversation.seq)
    let_.resolve()
    await server.door.run(ref, openTurn('t2'))
    await line.reached(conversation.seq + 1)
    expect(line.asides('text_snapshot')).toEqual([])
  })

  it('streams asked for one behind the other on one connection are all free once it is gone', async () => {
    const server = await serve({ maxRequests: 3 })
    await server.door.run(ref, openTurn('t1'))
    const socket = connect(Number(server.url.port), '127.0.0.1')
    socket.write(requestFor(server, 'GET', '/api/sessions/chat/events').repeat(3))
    await eventually(async () => (await readers(server)) === 3)
    socket.destroy()
    await eventually(async () => (await readers(server)) === 0)
    await (await joined(server)).reached(2)
  })

  it('a HEAD request is answered and over: it follows nothing, and its connection can be used again', async () => {
    const server = await serve({ maxRequests: 1 })
    await server.door.run(ref, openTurn('t1'))
    const socket = connect(Number(server.url.port), '127.0.0.1')
    opened.push(() => socket.destroy())
    let answers = ''
    socket.on('data', chunk => {
      answers += String(chunk)
    })
    socket.write(requestFor(server, 'HEAD', '/api/sessions/chat/events'))
    await eventually(() => answers.includes('text/event-stream'))
    socket.write(requestFor(server, 'GET', '/api/sessions/chat'))
    await eventually(() => answers.includes('"session_id":"chat"'))
    expect(await readers(server)).toBe(0)
    await (await joined(server)).reached(2)
  })
})

const requestFor = ({ url: { host } }: TestServer, method: string, path: string): string =>
  `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${TOKENS.person}\r\n\r\n`
