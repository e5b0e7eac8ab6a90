import { type LiveEntry, type Ref, refKey, type Door } from '../../engine/door/door.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import type { Role } from './access.ts'
import { notFound } from './replies.ts'
import type { Release } from './limits.ts'
import { Channel } from './channel.ts'
import { framedAside } from './frames.ts'
import { Reader } from './reader.ts'

const HEARTBEAT_MS = 15_000
const HEARTBEAT = Buffer.from(':\n\n')

export interface StreamsOptions {
  readonly door: Door
  readonly heartbeatMs?: number
  readonly onError: (error: unknown) => void
}

/** `signal` aborts when the client leaves before its answer has ended. */
export interface Line {
  readonly signal: AbortSignal
  readonly release: Release
}

/** The log after seq `after`, until the turn `until` ends. */
export interface Followed {
  readonly ref: Ref
  readonly after: number
  readonly until?: string
}

interface Place {
  readonly key: string
  readonly channel: Promise<Channel>
  readonly readers: Set<Reader>
}

export class Streams {
  readonly #options: StreamsOptions
  readonly #places = new Map<string, Place>()
  readonly #readers = new Set<Reader>()
  readonly #heartbeat: NodeJS.Timeout
  cuts = 0

  constructor(options: StreamsOptions) {
    this.#options = options
    this.#heartbeat = setInterval(() => {
      for (const reader of this.#readers) reader.beat(HEARTBEAT)
    }, options.heartbeatMs ?? HEARTBEAT_MS)
    this.#heartbeat.unref()
  }

  get size(): number {
    return this.#readers.size
  }

  /**
   * Sends the log, then live events, until the client leaves or the turn ends; then it calls `release`. Throws if there
   * is nothing to follow.
   */
  async serve(role: Role, { ref, after, until }: Followed, { signal, release }: Line): Promise<Response> {
    const place = this.#placeOf(ref, role)
    const reader = new Reader(
      after,
      gone => {
        if (gone.isCut) this.cuts += 1
        this.#leave(place, gone)
        release()
      },
      until,
    )
    place.readers.add(reader)
    this.#readers.add(reader)
    signal.addEventListener('abort', () => reader.end())
    try {
      const channel = await place.channel
      // Read again: another process may have written events that the channel lacks, or broken the task file.
      const state = await this.#options.door.read(ref)
      const response = reader.open()
      if (!reader.gone) void this.#feed(reader, channel, state)
      return response
    } catch (error) {
      reader.leave()
      throw error
    }
  }

  showText(ref: Ref, text: LiveEntry): void {
    for (const role of ROLES) {
      void this.#places.get(keyOf(ref, role))?.channel.then(
        channel => channel.showText(text),
        () => {},
      )
    }
  }

  close(): void {
    clearInterval(this.#heartbeat)
    for (const reader of this.#readers) reader.end()
  }

  async #feed(reader: Reader, channel: Channel, state: Conversation): Promise<void> {
    try {
      if (reader.seq > state.seq) {
        reader.seq = 0
        reader.write(framedAside(state, 'reset', { seq: state.seq }))
      }
      await channel.serve(reader)
    } catch (error) {
      if (reader.gone) return
      this.#options.onError(error)
      reader.end()
    }
  }

  #placeOf(ref: Ref, role: Role): Place {
    const key = keyOf(ref, role)
    const place = this.#places.get(key) ?? this.#open(ref, role)
    this.#places.set(key, place)
    return place
  }

  #leave(place: Place, reader: Reader): void {
    this.#readers.delete(reader)
    place.readers.delete(reader)
    void place.channel.then(
      channel => channel.forget(reader),
      () => {},
    )
    if (place.readers.size === 0) this.#drop(place)
  }

  #drop(place: Place): void {
    if (this.#places.get(place.key) === place) this.#places.delete(place.key)
    void place.channel.then(
      channel => channel.close(),
      () => {},
    )
  }

  #open(ref: Ref, role: Role): Place {
    const { door, onError } = this.#options
    const opened = async (): Promise<Channel> => {
      const state = await door.read(ref)
      if (state.seq === 0) throw notFound('session_not_found', 'There is no such conversation.')
      return new Channel(door, ref, role, state, error => {
        if (error !== undefined) onError(error)
        this.#drop(place)
        // Readers reconnect to a new channel or get an error.
        for (const reader of place.readers) reader.end()
      })
    }
    const place: Place = { key: keyOf(ref, role), channel: opened(), readers: new Set() }
    return place
  }
}

const ROLES: readonly Role[] = ['person', 'agent']

const keyOf = (ref: Ref, role: Role): string => `${role} ${refKey(ref)}`
