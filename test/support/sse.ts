import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { createParser } from 'eventsource-parser'
import type { StoredEvent } from '../../src/core/model/event.ts'
import type { Store } from '../../src/store/store.ts'
import { TOKENS, type TestServer } from './server.ts'

/** A frame as received, with parsed `data`. */
export interface Frame {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: Streamed
}
export interface Streamed {
  readonly type: string
  readonly timestamp: string
  readonly seq?: number
  readonly session_id: string
  readonly turn_id: string | null
  readonly data: { readonly [key: string]: unknown }
}

export interface FollowOptions {
  /** The header. */
  readonly lastEventId?: string | number
  /** The query. */
  readonly query?: string
  readonly as?: keyof typeof TOKENS
  /** Hangs up after that many bytes of the body, even within a frame. */
  readonly cutAfter?: number
}

/** A raw reader of an event stream, which can pause, and hang up within a frame. */
export class SseReader {
  readonly frames: Frame[] = []
  raw = ''
  comments = 0
  status = 0
  headers: IncomingHttpHeaders = {}
  isOver = false
  /** How the stream ended: `end` if the server ended it, else `cut`. */
  readonly over: Promise<'end' | 'cut'>
  readonly opened: Promise<void>
  readonly #looks = new Set<() => void>()
  readonly #hangUp: () => void
  #response: IncomingMessage | undefined

  constructor(url: URL, conversation: string, { lastEventId, query = '', as = 'person', cutAfter }: FollowOptions) {
    const opened = Promise.withResolvers<void>()
    const over = Promise.withResolvers<'end' | 'cut'>()
    this.opened = opened.promise
    this.over = over.promise
    // A test that does not await it must not fail by it.
    this.opened.catch(() => {})
    const finish = (how: 'end' | 'cut'): void => {
      this.isOver = true
      opened.reject(new Error('the line ended before there was an answer'))
      over.resolve(how)
      this.#look()
    }
    const asked = request(new URL(`/api/sessions/${conversation}/events${query}`, url), {
      agent: false,
      headers: {
        authorization: `Bearer ${TOKENS[as]}`,
        ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
      },
    })
    this.#hangUp = () => asked.destroy()
    const decoder = new TextDecoder()
    const parser = createParser({
      onEvent: ({ id, event, data }) => this.frames.push({ id, event, data: JSON.parse(data) as Streamed }),
      onComment: () => {
        this.comments += 1
      },
    })
    let bytes = 0
    asked.on('response', response => {
      this.#response = response
      this.status = response.statusCode ?? 0
      this.headers = response.headers
      opened.resolve()
      response.on('data', (chunk: Buffer) => {
        if (this.isOver) return
        const taken = chunk.subarray(0, cutAfter === undefined ? chunk.length : cutAfter - bytes)
        bytes += taken.length
        const text = decoder.decode(taken, { stream: true })
        this.raw += text
        if (this.status === 200) parser.feed(text)
        if (cutAfter !== undefined && bytes >= cutAfter) this.cut()
        this.#look()
      })
      response.on('end', () => finish('end'))
      response.on('close', () => finish('cut'))
      response.on('error', () => finish('cut'))
    })
    asked.on('error', () => finish('cut'))
    asked.on('close', () => finish('cut'))
    asked.end()
  }

  /** The stored events so far. */
  get events(): StoredEvent[] {
    return this.frames.filter(({ id }) => id !== undefined).map(({ data }) => data as unknown as StoredEvent)
  }

  get seqs(): number[] {
    return this.events.map(({ seq }) => seq)
  }

  /** Events without an id. */
  asides(...types: readonly string[]): Streamed[] {
    const asides = this.frames.filter(({ id }) => id === undefined).map(({ data }) => data)
    return types.length === 0 ? asides : asides.filter(({ type }) => types.includes(type))
  }

  /** Resolves once it holds; rejects if the stream ends first. */
  until(holds: (reader: this) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (holds(this)) resolve()
        else if (this.isOver) reject(new Error(`the line ended first; ${this.frames.length} frames had come`))
        else return
        this.#looks.delete(look)
      }
      this.#looks.add(look)
      look()
    })
  }

  /** Resolves once the event with this seq arrived. */
  reached(seq: number): Promise<void> {
    return this.until(({ frames }) => seqOf(frames, 0) >= seq)
  }

  stopReading(): void {
    this.#response?.pause()
  }

  goOnReading(): void {
    this.#response?.resume()
  }

  /** Hangs up: later data is ignored. */
  cut(): void {
    this.isOver = true
    this.#hangUp()
  }

  #look(): void {
    for (const look of this.#looks) look()
  }
}

/** Opens the stream of a conversation; resolves with the headers. */
export async function follow(
  server: Pick<TestServer, 'url'>,
  conversation: string,
  options: FollowOptions = {},
): Promise<SseReader> {
  const reader = new SseReader(server.url, conversation, options)
  await reader.opened
  return reader
}

/** A reader that reconnects after every cut, with the last id it saw. */
export class ResumingReader {
  readonly events: StoredEvent[] = []
  /** Lists whose `as_of_seq` is not the last seq before them. */
  readonly strays: Frame[] = []
  resets = 0
  connections = 0
  readonly #conversation: string

  constructor(conversation: string) {
    this.#conversation = conversation
  }

  get seq(): number {
    return this.events.at(-1)?.seq ?? 0
  }

  /** Connects once, and hangs up after some bytes, after some time, or when `upTo` arrived. */
  async connect(url: URL, upTo: number, cutAfter?: number, cutAfterMs?: number): Promise<void> {
    this.connections += 1
    const reader = new SseReader(url, this.#conversation, {
      lastEventId: this.seq,
      ...(cutAfter === undefined ? {} : { cutAfter }),
    })
    const timer = cutAfterMs === undefined ? undefined : setTimeout(() => reader.cut(), cutAfterMs)
    const from = this.seq
    await Promise.race([reader.until(({ frames }) => seqOf(frames, from) >= upTo).catch(() => {}), reader.over])
    clearTimeout(timer)
    reader.cut()
    this.events.push(...reader.events)
    this.strays.push(...straysIn(reader.frames, from))
    this.resets += reader.asides('reset').length
  }
}

function straysIn(frames: readonly Frame[], from: number): Frame[] {
  let last = from
  return frames.filter(({ id, data }) => {
    last = id === undefined ? last : Number(id)
    return (data.data['as_of_seq'] ?? last) !== last
  })
}

function seqOf(frames: readonly Frame[], from: number): number {
  const last = frames.findLast(({ id }) => id !== undefined)
  return last?.data.seq ?? from
}

/** Polls until it holds, for what has no event. */
export async function eventually(holds: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  const until = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > until) throw new Error(`it did not come to hold within ${withinMs} ms: ${holds.toString()}`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

/** A value of `/metrics`. */
export async function figure(server: TestServer, name: string): Promise<number> {
  const text = await (await server.ask('GET', '/metrics', { as: 'nobody' })).text()
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
}
export const readers = (server: TestServer): Promise<number> => figure(server, 'runsheet_stream_readers')

/** The store with some of its methods replaced, for faults and for counting. */
export function storeWith(store: Store, replaced: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, key: keyof Store) => {
      if (replaced[key] !== undefined) return replaced[key]
      const value: unknown = target[key]
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
