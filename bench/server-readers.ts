import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'node:net'
import { busyMeter, nowMs, serveParent, startedWith } from './server-process.ts'
import type { Listening } from './server-host.ts'

// Many readers of one conversation, in a separate process. They search for one marker and parse nothing, because only
// the server is measured.
export interface ReadersOrder extends Listening {
  readonly count: number
}

const MARK = Buffer.from('\nid: ')
const LINE_END = 10

const order = startedWith() as ReadersOrder
/** Shared by all readers, because each read is processed before the next. */
const shared = Buffer.allocUnsafe(256 * 1024)
let bytes = 0
let seen = 0
let opened = 0
let closed = 0
let expected = Number.POSITIVE_INFINITY
let reached = Promise.withResolvers<number>()
/** Arrival time of each event per reader, while recording. */
let arrivals: Float64Array[] | undefined

class Follower {
  events = 0
  #begun = false
  #carried: Buffer = Buffer.alloc(0)

  take(read: Buffer): void {
    if (!this.#begun) {
      this.#begun = true
      opened += 1
    }
    bytes += read.length
    const chunk = this.#carried.length === 0 ? read : Buffer.concat([this.#carried, read])
    for (let at = chunk.indexOf(MARK); at !== -1; at = chunk.indexOf(MARK, at + MARK.length)) this.#event()
    // A marker may be split between reads, so the tail is kept.
    const end = chunk.lastIndexOf(LINE_END)
    const tail = end !== -1 && end > chunk.length - MARK.length ? chunk.subarray(end) : chunk.subarray(chunk.length)
    this.#carried = tail.length === 0 ? tail : Buffer.from(tail)
  }

  #event(): void {
    arrivals?.[this.events]?.set([nowMs()], index(this))
    this.events += 1
    seen += 1
    if (seen >= expected) reached.resolve(nowMs())
  }
}

const followers = Array.from({ length: order.count }, () => new Follower())
const places = new Map(followers.map((follower, place) => [follower, place]))
const busy = busyMeter()
const index = (follower: Follower): number => places.get(follower) ?? 0

serveParent({
  open: async () => {
    for (const follower of followers) {
      follow(follower)
      // Connects in batches, because the accept queue is not measured.
      if (index(follower) % 50 === 49) await until(() => opened > index(follower))
    }
    await until(() => opened === order.count)
  },
  /** Expects this many events per reader; `arrived` resolves with the last one. */
  expect: ({ events, timed }: { events: number; timed: boolean }) => {
    for (const follower of followers) follower.events = 0
    arrivals = timed ? Array.from({ length: events }, () => new Float64Array(order.count)) : undefined
    seen = 0
    bytes = 0
    expected = events * order.count
    reached = Promise.withResolvers()
    busy()
  },
  arrived: async () => {
    const at = await reached.promise
    return { at, bytes, busy: busy(), closed }
  },
  latency: (committed: readonly number[]) => {
    const all = (arrivals ?? []).flatMap((row, event) => [...row].map(at => at - (committed[event] ?? 0)))
    all.sort((a, b) => a - b)
    return { p50: all[Math.floor(all.length / 2)], p99: all[Math.floor(all.length * 0.99)] }
  },
})

function follow(follower: Follower): void {
  const socket = connect({
    port: order.port,
    host: '127.0.0.1',
    onread: {
      buffer: shared,
      callback: length => {
        follower.take(shared.subarray(0, length))
        return true
      },
    },
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    closed += 1
  })
  socket.write(
    `GET ${order.path} HTTP/1.1\r\nHost: 127.0.0.1:${order.port}\r\nAuthorization: Bearer ${order.token}\r\n\r\n`,
  )
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(2)
}
