import type { ServerResponse } from 'node:http'
import { type LiveEntry, type Ref, refKey, type Door } from '../../door/door.ts'
import { HttpError, notFound } from '../errors.ts'
import { Channel } from './channel.ts'
import { framedAside } from './frames.ts'
import { Reader } from './reader.ts'

const HEARTBEAT_MS = 15_000
const HEARTBEAT = Buffer.from(':\n\n')

export interface StreamsOptions {
  readonly door: Door
  /** So many readers at once; the next is told to come back. */
  readonly most: number
  readonly heartbeatMs?: number
  readonly onError: (error: unknown) => void
}

interface Place {
  readonly channel: Promise<Channel>
  readonly readers: Set<Reader>
}

/** The event streams of this process: who follows what, and how many they may be. */
export class Streams {
  readonly #options: StreamsOptions
  readonly #places = new Map<string, Place>()
  readonly #readers = new Set<Reader>()
  readonly #heartbeat: NodeJS.Timeout
  /** Readers that were cut off because they did not read. */
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

  /** Serves the log behind `after`, then what comes, for as long as the client stays or until a turn is over. */
  async serve(ref: Ref, after: number, response: ServerResponse, until?: string): Promise<void> {
    if (this.#readers.size >= this.#options.most) {
      throw new HttpError(503, 'too_many_streams', 'Too many follow already; try again in a moment.', {
        headers: { 'retry-after': '5' },
      })
    }
    const onCut = (): void => {
      this.cuts += 1
    }
    const reader = new Reader(response, after, onCut, until)
    this.#readers.add(reader)
    const place = this.#join(ref, reader)
    response.once('close', () => this.#leave(ref, place, reader))
    try {
      const channel = await place.channel
      // Asked for anew: another process may have written what the channel has not read yet.
      const state = after > channel.head ? await this.#options.door.read(ref) : undefined
      if (reader.gone) return
      reader.open()
      // That asks for the headers only.
      if (response.req.method === 'HEAD') return reader.end()
      if (state && after > state.seq) {
        reader.seq = 0
        reader.write(framedAside(state, 'reset', { seq: state.seq }))
      }
      await channel.serve(reader)
    } catch (error) {
      if (!response.headersSent) {
        this.#leave(ref, place, reader)
        throw error
      }
      if (reader.gone) return
      this.#options.onError(error)
      reader.end()
    }
  }

  /** Text as it is being written by a step that runs here. */
  showText(ref: Ref, text: LiveEntry): void {
    void this.#places.get(refKey(ref))?.channel.then(
      channel => channel.showText(text),
      () => {},
    )
  }

  close(): void {
    clearInterval(this.#heartbeat)
    for (const reader of this.#readers) reader.end()
  }

  #join(ref: Ref, reader: Reader): Place {
    const key = refKey(ref)
    const place = this.#places.get(key) ?? this.#open(ref)
    this.#places.set(key, place)
    place.readers.add(reader)
    return place
  }

  #leave(ref: Ref, place: Place, reader: Reader): void {
    this.#readers.delete(reader)
    place.readers.delete(reader)
    void place.channel.then(
      channel => channel.forget(reader),
      () => {},
    )
    if (place.readers.size === 0) this.#drop(ref, place)
  }

  #drop(ref: Ref, place: Place): void {
    if (this.#places.get(refKey(ref)) === place) this.#places.delete(refKey(ref))
    void place.channel.then(
      channel => channel.close(),
      () => {},
    )
  }

  #open(ref: Ref): Place {
    const { door, onError } = this.#options
    const opened = async (): Promise<Channel> => {
      const state = await door.read(ref)
      if (state.seq === 0) throw notFound('session_not_found', 'There is no such conversation.')
      return new Channel(door, ref, state, error => {
        if (error !== undefined) onError(error)
        this.#drop(ref, place)
        // Whoever still reads comes back, and finds a new one or hears why not.
        for (const reader of place.readers) reader.end()
      })
    }
    const place: Place = { channel: opened(), readers: new Set() }
    return place
  }
}
