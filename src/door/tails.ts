import type { StoredEvent } from '../domain/event.ts'
import type { Hint, Ref, Store } from '../store/store.ts'

const PAGE = 500
/** A follower that lags this far behind reads the log again by itself, instead of holding it in memory. */
const MOST_BUFFERED = 2_000
/** As long as a timer can be. */
const AWAKE_MS = 2 ** 31 - 1
/** A store that cannot be listened to is tried again. */
const LISTEN_AGAIN_MS = 500

const keyOf = (ref: Ref): string => `${ref.tenant}/${ref.conversation}`

/** One reader of a conversation. It keeps its own place, so that whatever is handed to it, nothing is missed or doubled. */
class Follower {
  seq: number
  #buffer: StoredEvent[] = []
  #wake = Promise.withResolvers<void>()

  constructor(seq: number) {
    this.seq = seq
  }

  offer(events: readonly StoredEvent[]): void {
    if (this.#buffer.length + events.length > MOST_BUFFERED) this.#buffer = []
    else this.#buffer.push(...events)
    this.wake()
  }

  wake(): void {
    this.#wake.resolve()
  }

  async woken(): Promise<void> {
    await this.#wake.promise
    this.#wake = Promise.withResolvers<void>()
  }

  /** What was handed over and fits behind its place without a gap. */
  take(): readonly StoredEvent[] {
    const fresh = this.#buffer.filter(({ seq }) => seq > this.seq)
    this.#buffer = []
    if (fresh[0]?.seq !== this.seq + 1) return []
    this.seq += fresh.length
    return fresh
  }
}

/** The followers of one conversation, who share one reading of its log. */
class Channel {
  readonly followers = new Set<Follower>()
  /** How far the shared reading is; unknown until the first follower has caught up. */
  seq: number | undefined
  /** The newest that anybody has hinted at. */
  hinted = 0
  reading: Promise<void> | undefined
}

/** Everybody who follows a log in this process. Who waits is an entry in a map: no timer, no polling, no connection. */
export class Tails {
  readonly #store: Store
  readonly #onError: (error: unknown) => void
  readonly #channels = new Map<string, Channel>()
  #listening: AbortController | undefined
  #awake: NodeJS.Timeout | undefined

  constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store
    this.#onError = onError
  }

  /** The log behind `after`, in batches: what is there, then what comes, until the signal. */
  async *follow(ref: Ref, after: number, signal: AbortSignal): AsyncGenerator<readonly StoredEvent[], void> {
    const follower = new Follower(after)
    const channel = this.#join(ref, follower)
    const wake = (): void => follower.wake()
    signal.addEventListener('abort', wake)
    try {
      while (!signal.aborted) {
        const handed = follower.take()
        const events = handed.length > 0 ? handed : await this.#missing(ref, channel, follower)
        if (events.length > 0) yield events
        else await follower.woken()
      }
    } catch (error) {
      // Storage that closes under a reader who was told to stop is no failure.
      if (!signal.aborted) throw error
    } finally {
      signal.removeEventListener('abort', wake)
      this.#leave(ref, channel, follower)
    }
  }

  /** What a follower has to read by itself: until it has caught up with the shared reading, and where that had a gap. */
  async #missing(ref: Ref, channel: Channel, follower: Follower): Promise<readonly StoredEvent[]> {
    if (channel.seq !== undefined && Math.max(channel.seq, channel.hinted) <= follower.seq) return []
    const events = await this.#page(ref, follower.seq)
    follower.seq = events.at(-1)?.seq ?? follower.seq
    if (events.length === 0 && channel.seq === undefined) {
      // Asked for, not taken from the follower: a place behind the head must not lead the others astray.
      channel.seq = (await this.#store.load(ref)).seq
    }
    // Whoever else has found out meanwhile that there is more: look again, for no hint may follow.
    if (events.length === 0 && (channel.seq ?? 0) > follower.seq) follower.wake()
    return events
  }

  /** What comes next, up to where a commit ends: nobody is to see half of one. Commits differ in their time. */
  async #page(ref: Ref, after: number): Promise<readonly StoredEvent[]> {
    for (let limit = PAGE; ; limit *= 2) {
      const events = await this.#store.eventsAfter(ref, after, limit)
      if (events.length < limit) return events
      const last = events.at(-1)?.timestamp
      const whole = events.slice(
        0,
        events.findIndex(({ timestamp }) => timestamp === last),
      )
      if (whole.length > 0) return whole
    }
  }

  #join(ref: Ref, follower: Follower): Channel {
    const channel = this.#channels.get(keyOf(ref)) ?? new Channel()
    this.#channels.set(keyOf(ref), channel)
    channel.followers.add(follower)
    if (!this.#listening) {
      this.#listening = new AbortController()
      // Somebody waits: the process must not end under them. One handle, however many they are.
      this.#awake = setInterval(() => {}, AWAKE_MS)
      void this.#listen(this.#listening.signal)
    }
    return channel
  }

  #leave(ref: Ref, channel: Channel, follower: Follower): void {
    channel.followers.delete(follower)
    if (channel.followers.size > 0) return
    this.#channels.delete(keyOf(ref))
    if (this.#channels.size > 0) return
    this.#listening?.abort()
    this.#listening = undefined
    clearInterval(this.#awake)
  }

  async #listen(signal: AbortSignal): Promise<void> {
    try {
      for await (const hint of this.#store.changes(signal)) this.#hear(hint)
    } catch (error) {
      this.#onError(error)
      await new Promise(resolve => setTimeout(resolve, LISTEN_AGAIN_MS).unref())
      if (signal.aborted) return
      // What happened meanwhile nobody has hinted at: everybody looks.
      for (const channel of this.#channels.values()) {
        channel.seq = undefined
        for (const follower of channel.followers) follower.wake()
      }
      void this.#listen(signal)
    }
  }

  #hear(hint: Hint): void {
    const channel = this.#channels.get(keyOf(hint))
    if (!channel) return
    channel.hinted = Math.max(channel.hinted, hint.seq)
    if (channel.seq === undefined) for (const follower of channel.followers) follower.wake()
    else if (hint.seq > channel.seq) channel.reading ??= this.#read(hint, channel)
  }

  /** Reads what is new once, for all of them. */
  async #read(ref: Ref, channel: Channel): Promise<void> {
    try {
      for (;;) {
        const { hinted } = channel
        const events = await this.#page(ref, channel.seq ?? 0)
        channel.seq = events.at(-1)?.seq ?? channel.seq
        if (events.length > 0) for (const follower of channel.followers) follower.offer(events)
        // A hint that came while we read may be about what that reading could not see yet.
        else if (hinted === channel.hinted) break
      }
    } catch (error) {
      this.#onError(error)
      // Each looks for itself then, and meets the error where it can be answered.
      channel.seq = undefined
      for (const follower of channel.followers) follower.wake()
    } finally {
      channel.reading = undefined
    }
  }
}
