import { setTimeout as delay } from 'node:timers/promises'
import { type Commit, commitsAfter } from '../store/commit.ts'
import { type Hint, type Ref, refKey, type Store } from '../store/store.ts'

/** Events per read. */
const PAGE = 500
/** Events held for a slow follower; beyond that it reads the log again by itself. */
const MAX_BUFFERED = 2_000
/** The maximum delay of a timer. */
const KEEP_ALIVE_MS = 2 ** 31 - 1
const RETRY_LISTENING_MS = 500

/** All followers of logs in this process. A waiting follower costs one map entry: no timer, no polling, no connection. */
export class Tails {
  readonly #store: Store
  readonly #onError: (error: unknown) => void
  readonly #feeds = new Map<string, Feed>()
  #listening: AbortController | undefined
  #keepAlive: NodeJS.Timeout | undefined

  constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store
    this.#onError = onError
  }

  /** Yields the commits after seq `after`, then new ones, until the signal aborts. */
  async *follow(ref: Ref, after: number, signal: AbortSignal): AsyncGenerator<Commit, void> {
    const follower = new Follower(after)
    const feed = this.#join(ref, follower)
    const wake = (): void => follower.wake()
    signal.addEventListener('abort', wake)
    try {
      while (!signal.aborted) {
        const offered = follower.take()
        const commits = offered.length > 0 ? offered : await this.#missing(ref, feed, follower)
        if (commits.length === 0) await follower.woken()
        for (const commit of commits) if (!signal.aborted) yield commit
      }
    } catch (error) {
      // A store that closes under an aborted follower is not a failure.
      if (!signal.aborted) throw error
    } finally {
      signal.removeEventListener('abort', wake)
      this.#leave(ref, feed, follower)
    }
  }

  /** The commits that a follower reads by itself: before it has caught up with the feed, or after a gap in its buffer. */
  async #missing(ref: Ref, feed: Feed, follower: Follower): Promise<readonly Commit[]> {
    if (feed.seq !== undefined && Math.max(feed.seq, feed.hinted) <= follower.seq) return []
    const commits = await commitsAfter(this.#store, ref, follower.seq, PAGE)
    follower.seq = commits.at(-1)?.seq ?? follower.seq
    if (commits.length === 0 && feed.seq === undefined) {
      // Not the follower's own seq, which may lie beyond the head.
      feed.seq = (await this.#store.load(ref)).seq
    }
    // Another follower may have moved the feed; no further hint may come, so check again.
    if (commits.length === 0 && (feed.seq ?? 0) > follower.seq) follower.wake()
    return commits
  }

  #join(ref: Ref, follower: Follower): Feed {
    const feed = this.#feeds.get(refKey(ref)) ?? new Feed()
    this.#feeds.set(refKey(ref), feed)
    feed.followers.add(follower)
    if (!this.#listening) {
      this.#listening = new AbortController()
      // One handle keeps the process alive for all followers.
      this.#keepAlive = setInterval(() => {}, KEEP_ALIVE_MS)
      void this.#listen(this.#listening.signal)
    }
    return feed
  }

  #leave(ref: Ref, feed: Feed, follower: Follower): void {
    feed.followers.delete(follower)
    if (feed.followers.size > 0) return
    this.#feeds.delete(refKey(ref))
    if (this.#feeds.size > 0) return
    this.#listening?.abort()
    this.#listening = undefined
    clearInterval(this.#keepAlive)
  }

  async #listen(signal: AbortSignal): Promise<void> {
    try {
      for await (const hint of this.#store.changes(signal)) this.#hear(hint)
    } catch (error) {
      this.#onError(error)
      await delay(RETRY_LISTENING_MS, undefined, { ref: false })
      if (signal.aborted) return
      // Hints were missed: each follower reads the log itself.
      for (const feed of this.#feeds.values()) feed.reset()
      void this.#listen(signal)
    }
  }

  #hear(hint: Hint): void {
    const feed = this.#feeds.get(refKey(hint))
    if (!feed || hint.kind !== 'log') return
    feed.hinted = Math.max(feed.hinted, hint.seq)
    if (feed.seq === undefined) feed.wake()
    else if (hint.seq > feed.seq) feed.reading ??= this.#read(hint, feed)
  }

  /** Reads new commits once, for all followers. */
  async #read(ref: Ref, feed: Feed): Promise<void> {
    try {
      for (;;) {
        const { hinted } = feed
        const commits = await commitsAfter(this.#store, ref, feed.seq ?? 0, PAGE)
        feed.seq = commits.at(-1)?.seq ?? feed.seq
        if (commits.length > 0) for (const follower of feed.followers) follower.offer(commits)
        // A hint during the read may announce a commit that the read did not see.
        else if (hinted === feed.hinted) break
      }
    } catch (error) {
      this.#onError(error)
      // Each follower reads for itself, so that its caller gets the error.
      feed.reset()
    } finally {
      feed.reading = undefined
    }
  }
}

/** One reader of a conversation. It keeps its own seq, so that it misses and repeats nothing. */
class Follower {
  seq: number
  #buffer: Commit[] = []
  #buffered = 0
  #wake = Promise.withResolvers<void>()

  constructor(seq: number) {
    this.seq = seq
  }

  offer(commits: readonly Commit[]): void {
    const size = commits.reduce((sum, { events }) => sum + events.length, 0)
    if (this.#buffered + size > MAX_BUFFERED) this.#clear()
    else {
      this.#buffer.push(...commits)
      this.#buffered += size
    }
    this.wake()
  }

  wake(): void {
    this.#wake.resolve()
  }

  async woken(): Promise<void> {
    await this.#wake.promise
    this.#wake = Promise.withResolvers<void>()
  }

  /** The buffered commits, if they follow its seq without a gap. */
  take(): readonly Commit[] {
    const fresh = this.#buffer.filter(({ seq }) => seq > this.seq)
    this.#clear()
    const [first] = fresh
    if (!first || first.events[0]?.seq !== this.seq + 1) return []
    this.seq = fresh.at(-1)?.seq ?? this.seq
    return fresh
  }

  #clear(): void {
    this.#buffer = []
    this.#buffered = 0
  }
}

/** The followers of one conversation, which share one read of its log. */
class Feed {
  readonly followers = new Set<Follower>()
  /** The seq of the shared read; unknown until the first follower has caught up. */
  seq: number | undefined
  /** The newest seq of a hint. */
  hinted = 0
  reading: Promise<void> | undefined

  wake(): void {
    for (const follower of this.followers) follower.wake()
  }

  reset(): void {
    this.seq = undefined
    this.wake()
  }
}
