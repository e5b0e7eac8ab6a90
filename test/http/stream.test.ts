import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Command } from '../../src/core/model/command.ts'
import type { PolicyPatch } from '../../src/core/model/policy.ts'
import * as frames from '../../src/server/http/frames.ts'
import { openDoor, type Ref } from '../../src/engine/door/door.ts'
import { add, cancel, finish, openTurn, propose, settle, startTurn } from '../store/contract.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { wholeLog } from '../support/ledger.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, figure, follow, readers, type SseReader, type Streamed, storeWith } from '../support/sse.ts'

// The real ones, with a count.
vi.mock('../../src/server/http/frames.ts', { spy: true })

const ref: Ref = { tenant: 'local', conversation: 'chat' }

let server: TestServer
const lines: SseReader[] = []
afterEach(async () => {
  for (const line of lines.splice(0)) line.cut()
  await server.close()
})

async function join(options: Parameters<typeof follow>[2] = {}, conversation = 'chat'): Promise<SseReader> {
  const line = await follow(server, conversation, options)
  lines.push(line)
  return line
}

const run = (...commands: readonly Command[]): ReturnType<TestServer['door']['run']> =>
  server.door.run(ref, ...commands)
const say = (text: string, turn_id = 't1'): Command => ({
  type: 'record',
  turn_id,
  fact: { type: 'message_added', data: { message_id: 'm', role: 'assistant', text } },
})
const open = (turn_id: string, host: PolicyPatch): Command => ({ type: 'open_turn', turn_id, host })
const countTo = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at)
const listOf = ({ data }: Streamed): string[] =>
  (data['items'] as { description: string }[]).map(item => item.description)
const asOf = (asides: readonly Streamed[]): unknown[] => asides.map(({ type, data }) => [type, data['as_of_seq']])
const pair = (seq: number): unknown[] => [
  ['todos_updated', seq],
  ['todos_current', seq],
]

describe('the frames', () => {
  it('[SS1] a stored event goes out as id, event and data, field for field as it is stored', async () => {
    server = await startServer()
    await run(
      open('t1', { toolset: 'runsheet', review: true }),
      propose('t1', 'r1', 'über\nfünf 🎬\u2028'),
      say('a\r\nb'),
    )
    await run(cancel('r1'))
    const log = await wholeLog(server.door.conversations, ref)
    const line = await join()
    await line.until(({ raw }) => raw.includes('event: todos_current\n'))
    expect(log.length).toBeGreaterThan(4)
    const expected = log.map(event => {
      const { type, timestamp, seq, session_id, turn_id, data } = event
      const json = JSON.stringify({ type, timestamp, seq, session_id, turn_id, data })
      return `id: ${seq}\nevent: ${type}\ndata: ${json}\n\n`
    })
    expect(line.raw.startsWith(expected.join(''))).toBe(true)
    expect(line.events).toEqual(log)
    expect(line.frames.map(({ event }) => event)).toEqual(line.frames.map(({ data }) => data.type))
    expect(line.frames.slice(0, log.length).map(({ id }) => id)).toEqual(log.map(({ seq }) => String(seq)))
  })

  it('[SS1] what is not stored has neither id nor seq, and otherwise the same fields', async () => {
    server = await startServer()
    await run(openTurn('t1'), add('t1', 'a', 'b'))
    const { updated_at } = await server.door.read(ref)
    const line = await join({ lastEventId: 99 })
    await line.until(({ frames }) => frames.at(-1)?.event === 'todos_current')
    const common = { timestamp: updated_at, session_id: 'chat', turn_id: 't1' }
    const a = { id: 1, description: 'a', status: 'current' }
    const items = [a, { id: 2, description: 'b', status: 'pending' }]
    expect(line.asides()).toEqual([
      { type: 'reset', ...common, data: { seq: 4 } },
      { type: 'todos_updated', ...common, data: { total: 2, remaining: 2, current: a, items, as_of_seq: 4 } },
      { type: 'todos_current', ...common, data: { current: a, remaining: 2, total: 2, as_of_seq: 4 } },
    ])
    expect(Object.keys(line.asides('todos_updated')[0] ?? {})).toEqual([
      'type',
      'timestamp',
      'session_id',
      'turn_id',
      'data',
    ])
    expect(line.raw.match(/^id:/gm)).toHaveLength(4)
  })

  it('[SS1] the log comes first, then what happens, in order and once', async () => {
    server = await startServer()
    await run(openTurn('t1'), ...countTo(1, 250).map(number => say(`${number}`)))
    const line = await join({ as: 'agent' })
    await line.reached(252)
    for (const number of countTo(1, 20)) await run(say(`live ${number}`))
    await line.reached(272)
    expect(line.events).toEqual(await wholeLog(server.door.conversations, ref))
  })

  it('the headers name the type and forbid caching, transforming and buffering', async () => {
    server = await startServer()
    await run(openTurn('t1'))
    const line = await join()
    expect(line.status).toBe(200)
    expect(line.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(line.headers['content-length']).toBeUndefined()
    expect(line.headers['content-encoding']).toBeUndefined()
  })

  it('[SS1] an unknown conversation is 404, and holds no place', async () => {
    server = await startServer()
    const answer = await server.ask('GET', '/api/sessions/nowhere/events')
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { code: 'session_not_found' } })
    expect(await readers(server)).toBe(0)
    await server.door.run({ ...ref, conversation: 'nowhere' }, openTurn('t1'))
    await (await join({}, 'nowhere')).reached(2)
  })

  it('comments keep the line open', async () => {
    server = await startServer({ heartbeatMs: 5 })
    await run(openTurn('t1'))
    const line = await join()
    await line.until(({ comments }) => comments >= 3)
    expect(line.raw).toContain('\n\n:\n\n:\n\n')
    await run(say('a'))
    await line.reached(3)
    expect(line.seqs).toEqual([1, 2, 3])
  })

  it('[SS1][CL2] streams end cleanly when the server closes, even one that is just opening', async () => {
    server = await startServer()
    await run(openTurn('t1'))
    const all = await Promise.all([join(), join({ lastEventId: 1 }), join({ lastEventId: 2 })])
    await all[0].reached(2)
    await server.server.close(10_000)
    expect(await Promise.all(all.map(({ over }) => over))).toEqual(['end', 'end', 'end'])
  })
})

describe('resuming', () => {
  it.each(['header', 'query'] as const)('[SS2] works from every seq, by %s', async way => {
    server = await startServer()
    await run(openTurn('t1'), ...countTo(1, 130).map(number => say(`${number}`)))
    const log = await wholeLog(server.door.conversations, ref)
    // One that stays, so that the newest are in memory; the others also need the log.
    const stays = await join({ lastEventId: log.length })
    await run(say('131'), say('132'))
    await stays.reached(134)
    const whole = await wholeLog(server.door.conversations, ref)
    for (const after of countTo(0, whole.length)) {
      const line = await follow(
        server,
        'chat',
        way === 'header' ? { lastEventId: after } : { query: `?last_event_id=${after}` },
      )
      await line.until(({ frames }) => frames.at(-1)?.event === 'todos_current')
      expect(line.events).toEqual(whole.slice(after))
      expect(asOf(line.asides())).toEqual(pair(134))
      line.cut()
    }
  })

  it('[SS2] the header wins over the query, and an empty one means from the start', async () => {
    server = await startServer()
    await run(openTurn('t1'), say('a'))
    const line = await join({ lastEventId: 2, query: '?last_event_id=1' })
    await line.reached(3)
    expect(line.seqs).toEqual([3])
    const empty = await join({ query: '?last_event_id=' })
    await empty.reached(3)
    expect(empty.seqs).toEqual([1, 2, 3])
  })

  it.each(['x', '-1', '1.5', '1e3', '0x1', '1 2', 'null', '9'.repeat(16), 'é'])(
    '[SS2] %j is not a seq: 400, by header and by query',
    async garbage => {
      server = await startServer()
      await run(openTurn('t1'))
      const byQuery = await server.ask('GET', `/api/sessions/chat/events?last_event_id=${encodeURIComponent(garbage)}`)
      const byHeader = await server.ask('GET', '/api/sessions/chat/events', { headers: { 'last-event-id': garbage } })
      for (const answer of [byQuery, byHeader]) {
        expect(answer.status).toBe(400)
        expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request', field: 'last_event_id' } })
      }
    },
  )

  it.each([1, 100, 999_999_999_999_999 - 3])(
    '[SS2] %i beyond the head: reset, then everything, then live',
    async far => {
      server = await startServer()
      await run(openTurn('t1'), say('a'))
      const line = await join({ lastEventId: 3 + far })
      await line.reached(3)
      expect(line.frames[0]).toMatchObject({ id: undefined, event: 'reset', data: { data: { seq: 3 } } })
      await run(say('b'))
      await line.reached(4)
      expect(line.events).toEqual(await wholeLog(server.door.conversations, ref))
      expect(line.asides('reset')).toHaveLength(1)
    },
  )

  it('[SS2] at the head there is no reset', async () => {
    server = await startServer()
    await run(openTurn('t1'), say('a'))
    const line = await join({ lastEventId: 3 })
    await run(say('b'))
    await line.reached(4)
    expect(line.seqs).toEqual([4])
    expect(line.asides('reset')).toEqual([])
  })
})

describe('the list in view', () => {
  /** What a line brings for commits, from the moment at which it has joined; a last message marks the end. */
  async function broughtBy(commits: () => Promise<unknown>, turn = 't1'): Promise<SseReader> {
    const { seq } = await server.door.read(ref)
    const line = await join({ lastEventId: seq })
    await line.until(({ frames }) => frames.length === 2)
    expect(asOf(line.asides())).toEqual(pair(seq))
    line.frames.length = 0
    await commits()
    const { conversation } = await run(say('end', turn))
    await line.reached(conversation.seq)
    return line
  }
  const order = ({ frames: all }: SseReader): unknown[] =>
    all.map(({ id, event, data }) => (id === undefined ? [event, data.data['as_of_seq']] : Number(id)))

  it('[SS4] comes once after each commit that touched it, however many events that had', async () => {
    server = await startServer()
    await run(openTurn('t1'))
    const line = await broughtBy(async () => {
      await run(add('t1', 'a', 'b', 'c'))
      await run(settle('t1', 1))
    })
    // Settling one activates the next, in the same commit.
    expect(order(line)).toEqual([3, 4, 5, ...pair(5), 6, 7, ...pair(7), 8])
    expect(line.asides('todos_current').map(({ data }) => data)).toMatchObject([
      { current: { id: 1 }, remaining: 3, total: 3 },
      { current: { id: 2 }, remaining: 2, total: 3 },
    ])
  })

  it('[SS4][CU6] items have no current one', async () => {
    server = await startServer()
    await run(open('t1', { toolset: 'checklist' }))
    const line = await broughtBy(() => run(add('t1', 'Buy milk')))
    expect(line.asides('todos_updated')[0]?.data).toMatchObject({ current: null, items: [{ status: 'pending' }] })
    expect(line.asides('todos_current')[0]?.data).toMatchObject({ current: null, remaining: 1 })
  })

  it('[SS4] comes once for each of several commits in one tick', async () => {
    server = await startServer()
    await run(openTurn('t1'))
    const line = await broughtBy(() => Promise.all(['a', 'b', 'c', 'd'].map(title => run(add('t1', title)))))
    expect(order(line)).toEqual([3, ...pair(3), 4, ...pair(4), 5, ...pair(5), 6, ...pair(6), 7])
    expect(line.asides('todos_updated').map(listOf)).toEqual([['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd']])
  })

  it('[SS4] comes on turn_started, also where that touches no task', async () => {
    server = await startServer()
    await run(openTurn('t1'), add('t1', 'a'))
    const line = await broughtBy(() => run(startTurn('t2')), 't2')
    expect(order(line)).toEqual([4, ...pair(4), 5])
  })

  it('[SS4] does not come for what leaves it alone: messages, reviews, panels, templates, a limit of the policy', async () => {
    server = await startServer()
    await run(open('t1', { toolset: 'runsheet', review: true }))
    const line = await broughtBy(async () => {
      await run(say('a'))
      await run(propose('t1', 'r1', 'a'))
      await run({ type: 'show_panel', review_id: 'r1', panel: 'p' })
      await run({ type: 'leave_panel', review_id: 'r1', panel: 'p' })
      await run(cancel('r1'))
      await run({ type: 'set_policy', by: 'person', policy: { max_steps: 7 } })
      await server.ask('PUT', '/api/task-manager/templates/mine', { body: { tasks: [{ title: 'a' }] } })
    })
    expect(line.asides()).toEqual([])
    expect(line.events.map(({ type }) => type)).toContain('policy_set')
  })

  it('[SS10] is the plan of the turn in a turn-scoped toolset: the task of another turn is not in it', async () => {
    server = await startServer()
    await run(open('t1', { toolset: 'turn_todos' }), add('t1', 'old'))
    await run(open('t2', {}), add('t2', 'new'))
    const line = await broughtBy(async () => {
      const change = { task: 1, fields: { title: 'older' } }
      await run({ type: 'edit_tasks', by: 'person', change: [change] })
      await run({ type: 'edit_tasks', by: 'person', change: [{ task: 2, fields: { title: 'newer' } }] })
    }, 't2')
    expect(line.asides('todos_updated').map(listOf)).toEqual([['newer']])
    expect(order(line)).toEqual([6, 7, ...pair(7), 8])
  })

  it('[SS10] what a turn adopts comes into its view', async () => {
    server = await startServer()
    await run(startTurn('t1', { toolset: 'manage_todos' }), add('t1', 'a', 'b'), finish('t1'))
    const line = await broughtBy(
      () =>
        run({
          type: 'start_turn',
          turn_id: 't2',
          message_id: 'm2',
          message: 'Go on',
          model: 'test',
          continue_turn_id: 't1',
        }),
      't2',
    )
    expect(line.asides('todos_updated').map(listOf)).toEqual([['a', 'b']])
    expect(line.asides('todos_updated')[0]?.turn_id).toBe('t2')
  })

  it('[SS10] is every listed task of the conversation in the other toolsets', async () => {
    server = await startServer()
    await run(openTurn('t1'), add('t1', 'old'))
    await run(openTurn('t2'), add('t2', 'new'))
    const line = await broughtBy(
      () => run({ type: 'edit_tasks', by: 'person', change: [{ task: 1, fields: { title: 'older' } }] }),
      't2',
    )
    expect(line.asides('todos_updated').map(listOf)).toEqual([['older', 'new']])
  })

  it('[SS10] changes when a person switches to a toolset with another scope', async () => {
    server = await startServer()
    await run(openTurn('t1'), add('t1', 'old'))
    await run({ type: 'open_turn', turn_id: 't2', plans: true }, add('t2', 'new'))
    const line = await broughtBy(
      () => run({ type: 'set_policy', by: 'person', policy: { toolset: 'turn_todos' } }),
      't2',
    )
    expect(line.asides('todos_updated').map(listOf)).toEqual([['new']])
  })

  it('[SS10] shows and counts neither cancelled nor removed ones', async () => {
    server = await startServer()
    await run(openTurn('t1'), add('t1', 'a', 'b', 'c', 'd'))
    const line = await broughtBy(() =>
      run({
        type: 'edit_tasks',
        by: 'person',
        change: [
          { task: 2, fields: { status: 'cancelled' } },
          { task: 4, fields: { status: 'blocked' } },
        ],
        remove: [{ task: 3 }],
      }),
    )
    expect(line.asides('todos_updated').map(({ data }) => data)).toMatchObject([
      {
        total: 2,
        remaining: 1,
        items: [
          { id: 1, description: 'a', status: 'current' },
          { id: 4, description: 'd', status: 'blocked' },
        ],
      },
    ])
  })

  /** So many tasks, of which the first few are settled in a given way. */
  async function tasks(count: number, settled: number, status: 'completed' | 'cancelled'): Promise<void> {
    await run(openTurn('t1'))
    for (let made = 0; made < count; made += 20) {
      await run(add('t1', ...countTo(made + 1, Math.min(made + 20, count)).map(number => `task ${number}`)))
    }
    for (let done = 0; done < settled; done += 20) {
      const change = countTo(done + 1, Math.min(done + 20, settled)).map(task => ({ task, fields: { status } }))
      await run({ type: 'edit_tasks', by: 'person', change })
    }
  }
  async function listNow(): Promise<Streamed['data']> {
    const line = await join({ lastEventId: (await server.door.read(ref)).seq })
    await line.until(({ frames }) => frames.length === 2)
    return line.asides('todos_updated')[0]?.data ?? {}
  }
  const numbers = (data: Streamed['data']): number[] => (data['items'] as { id: number }[]).map(({ id }) => id)

  it('[SS10] holds 200 in list order, and beyond that the open ones first and how many more there are', async () => {
    server = await startServer()
    await tasks(200, 30, 'completed')
    const list = await listNow()
    expect(list).not.toHaveProperty('more')
    expect(numbers(list)).toEqual(countTo(1, 200))
    await run(add('t1', ...countTo(201, 210).map(number => `task ${number}`)))
    const longer = await listNow()
    expect(longer).toMatchObject({ total: 210, remaining: 180, more: 10, current: { id: 31 } })
    expect(numbers(longer)).toEqual([...countTo(31, 210), ...countTo(1, 20)])
  })

  it('[SS10] cancelled ones, which are not shown, do not count towards the 200', async () => {
    server = await startServer()
    await tasks(205, 20, 'cancelled')
    await run({ type: 'edit_tasks', by: 'person', change: [{ task: 21, fields: { status: 'completed' } }] })
    const list = await listNow()
    expect(list).toMatchObject({ total: 185, remaining: 184 })
    expect(list).not.toHaveProperty('more')
    expect(numbers(list)).toEqual(countTo(21, 205))
  })

  it('[SS4] comes once after the replay of a new reader, as of the head', async () => {
    server = await startServer()
    await run(openTurn('t1'), add('t1', 'a'))
    await run(add('t1', 'b'))
    const line = await join()
    await line.until(({ frames }) => frames.length === 6)
    expect(order(line)).toEqual([1, 2, 3, 4, ...pair(4)])
  })

  it('[SS4] comes once for a commit that is longer than what is read at once', async () => {
    server = await startServer()
    await run(openTurn('t1'), add('t1', 'a'))
    const line = await broughtBy(() => {
      const before = countTo(1, 498).map(number => say(`${number}`))
      // The tail reads 500 at a time: this makes both of them end in the middle of a commit.
      const many = countTo(1, 600).map(
        (number): Command => ({
          type: 'edit_tasks',
          by: 'person',
          change: [{ task: 1, fields: { title: `a ${number}` } }],
        }),
      )
      return Promise.all([run(...before), run(add('t1', 'b', 'c', 'd', 'e')), run(...many)])
    })
    const { seq } = await server.door.read(ref)
    expect(line.seqs).toEqual(countTo(4, seq))
    expect(asOf(line.asides())).toEqual([...pair(505), ...pair(1_105)])
  })
})

describe('text that is being written', () => {
  it('a reader that joins during a turn gets it as one snapshot, after the list', async () => {
    server = await startServer()
    await run(startTurn('t1'))
    await server.door.liveText.write(ref, { turn_id: 't1', message_id: 'm7', text: 'so far' })
    const line = await join()
    await line.until(reader => reader.asides('text_snapshot').length === 1)
    expect(line.frames.at(-1)).toMatchObject({
      id: undefined,
      event: 'text_snapshot',
      data: { turn_id: 't1', data: { message_id: 'm7', text: 'so far' } },
    })
    expect(line.asides('text_snapshot')[0]).not.toHaveProperty('seq')
    expect(line.asides().map(({ type }) => type)).toEqual(['todos_updated', 'todos_current', 'text_snapshot'])
  })

  it('there is no snapshot without text, without a running turn, or for the text of an earlier turn', async () => {
    server = await startServer()
    await run(startTurn('t1'))
    const nothing = await join()
    await server.door.liveText.write(ref, { turn_id: 't1', message_id: 'm7', text: 'left over' })
    await run(finish('t1'))
    const idle = await join()
    await idle.reached(3)
    await run(startTurn('t2'))
    const later = await join()
    await later.reached(4)
    await run(say('end', 't2'))
    for (const line of [nothing, idle, later]) {
      await line.reached(5)
      expect(line.asides('text_snapshot')).toEqual([])
    }
  })
})

describe('many readers', () => {
  it('beyond the limit: 429 with Retry-After; a place that becomes free is given away again', async () => {
    server = await startServer({ maxRequests: 3 })
    await run(openTurn('t1'))
    const all = await Promise.all([join(), join(), join()])
    for (let round = 0; round < 3; round += 1) {
      const refused = await server.ask('GET', '/api/sessions/chat/events')
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await refused.json()).toMatchObject({ error: { code: 'too_many_requests' } })
    }
    expect(await readers(server)).toBe(3)
    all[1].cut()
    await eventually(async () => (await readers(server)) === 2)
    await (await join()).reached(2)
    expect((await server.ask('GET', '/api/sessions/chat/events')).status).toBe(429)
  })

  it('requests that are refused or find nothing take no place', async () => {
    server = await startServer({ maxRequests: 1 })
    await run(openTurn('t1'))
    for (let round = 0; round < 5; round += 1) {
      expect((await server.ask('GET', '/api/sessions/nowhere/events')).status).toBe(404)
      expect((await server.ask('GET', '/api/sessions/chat/events?last_event_id=x')).status).toBe(400)
    }
    await (await join()).reached(2)
  })

  /** Counts the reads of the log, here and by followers. */
  async function countingServer(): Promise<{ reads: () => number }> {
    const store = openMemoryStore()
    let reads = 0
    const counting = storeWith(store, {
      eventsAfter: (...args) => {
        reads += 1
        return store.eventsAfter(...args)
      },
    })
    server = await startServer({ door: openDoor({ store: counting }) })
    await run(openTurn('t1'))
    return { reads: () => reads }
  }

  async function readsFor(readers: number): Promise<number> {
    const { reads } = await countingServer()
    const all = await Promise.all(Array.from({ length: readers }, () => join({ lastEventId: 2 })))
    await Promise.all(all.map(line => line.until(({ frames }) => frames.length === 2)))
    // The first one makes the tail catch up; what follows is what an event costs.
    await run(say('first'))
    await Promise.all(all.map(line => line.reached(3)))
    await eventually(async () => {
      const before = reads()
      await new Promise(resolve => setImmediate(resolve))
      return before === reads()
    })
    const before = reads()
    for (const number of countTo(4, 23)) {
      await run(say(`${number}`))
      await Promise.all(all.map(line => line.reached(number)))
    }
    const made = reads() - before
    for (const line of lines.splice(0)) line.cut()
    await eventually(async () => (await figure(server, 'runsheet_stream_readers')) === 0)
    return made
  }

  it('share one tail: forty cause no more readings of the log than one does', async () => {
    const one = await readsFor(1)
    await server.close()
    const forty = await readsFor(40)
    expect(forty).toBeLessThanOrEqual(one)
  })

  it('an event is framed once, for however many', async () => {
    server = await startServer()
    await run(openTurn('t1'))
    const all = await Promise.all(Array.from({ length: 20 }, () => join({ lastEventId: 2 })))
    await Promise.all(all.map(line => line.until(({ frames }) => frames.length === 2)))
    vi.mocked(frames.framed).mockClear()
    vi.mocked(frames.framedTodos).mockClear()
    for (const number of countTo(1, 10)) await run(add('t1', `task ${number}`))
    await Promise.all(all.map(line => line.reached(12)))
    expect(frames.framed).toHaveBeenCalledTimes(10)
    expect(frames.framedTodos).toHaveBeenCalledTimes(10)
  })

  it('the last reader to leave frees everything: nothing reads the log any more', async () => {
    const { reads } = await countingServer()
    const all = await Promise.all(Array.from({ length: 10 }, () => join()))
    await Promise.all(all.map(line => line.reached(2)))
    await run(say('a'))
    await Promise.all(all.map(line => line.reached(3)))
    for (const line of all) line.cut()
    await eventually(async () => (await readers(server)) === 0)
    const before = reads()
    for (const number of countTo(1, 5)) await run(say(`${number}`))
    // Another read of the same log, so that a remaining listener would have run.
    const other = await join({}, 'chat')
    await other.reached(8)
    other.cut()
    await eventually(async () => (await readers(server)) === 0)
    const after = reads()
    await run(say('b'))
    await server.ask('GET', '/readyz', { as: 'nobody' })
    expect(reads()).toBe(after)
    expect(after - before).toBeLessThan(10)
  })

  it('readers of different conversations hear only of their own', async () => {
    server = await startServer()
    const names = ['a', 'b', 'c']
    const at = (conversation: string): Ref => ({ tenant: 'local', conversation })
    for (const name of names) await server.door.run(at(name), openTurn('t1'), say(name))
    const all = await Promise.all(names.map(name => join({}, name)))
    await Promise.all(names.map(name => server.door.run(at(name), say(`${name} live`))))
    await Promise.all(all.map(line => line.reached(4)))
    for (const [index, name] of names.entries()) {
      expect(all[index]?.frames.every(({ data }) => data.session_id === name)).toBe(true)
    }
  })
})
