import { setTimeout as delay } from 'node:timers/promises'
import type { Conversation } from '../../core/model/conversation.ts'
import type { Seam } from './storage-health.ts'
import { commitsAfter, refKey, type Commit, type Hint, type LiveEntry, type Ref } from '../../store/store.ts'

const PAGE = 500
/** Events buffered for a slow follower; beyond that it reads the log again itself. */
const MAX_BUFFERED = 2_000
/** The longest timer that Node supports. */
const KEEP_ALIVE_MS = 2 ** 31 - 1
const RETRY_LISTENING_MS = 500
/** How long to listen on after the last follower has left, because the next one often comes soon. */
const LINGER_MS = 1_000

/** All log followers in this process. A waiting follower costs one map entry: no timer, no polling, no connection. */
export class Tails {
  readonly #store: Seam
  readonly #onError: (error: unknown) => void
  /** Ends all of them. */
  readonly #ending: AbortSignal
  readonly #feeds = new Map<string, Feed>()
  #listening: AbortController | undefined
  #keepAlive: NodeJS.Timeout | undefined
  #lingering: NodeJS.Timeout | undefined

  constructor(store: Seam, onError: (error: unknown) => void, ending: AbortSignal) {
    this.#store = store
    this.#onError = onError
    this.#ending = ending
    ending.addEventListener('abort', () => {
      this.#listening?.abort('unused')
      for (const { members } of this.#feeds.values()) for (const member of members) member.wake()
    })
  }

  /** Yields the commits after `after`, then new ones, until the signal aborts. */
  async *follow(ref: Ref, after: number, signal?: AbortSignal): AsyncGenerator<Commit, void> {
    const follower = new Follower(after)
    const isOver = this.#isOver(signal)
    const { feed, leave } = this.#join(ref, follower, signal)
    try {
      while (!isOver()) {
        const offered = follower.take()
        const commits = offered.length > 0 ? offered : await this.#missing(ref, feed, follower)
        if (commits.length === 0) await follower.woken()
        for (const commit of commits) if (!isOver()) yield commit
      }
    } catch (error) {
      // A store that closes under an aborted follower is not a failure.
      if (!isOver()) throw error
    } finally {
      leave()
    }
  }

  /** Yields the current state, then newer ones, until the signal aborts. */
  async *states(ref: Ref, signal?: AbortSignal): AsyncGenerator<Conversation, void> {
    const member = new Member('log')
    const isOver = this.#isOver(signal)
    const { leave } = this.#join(ref, member, signal)
    try {
      for (let seq = -1; !isOver(); await member.woken()) {
        const state = await this.#store.load(ref)
        if (state.seq > seq && !isOver()) yield state
        seq = state.seq
      }
    } catch (error) {
      if (!isOver()) throw error
    } finally {
      leave()
    }
  }

  async *followText(ref: Ref, signal?: AbortSignal): AsyncGenerator<LiveEntry, void> {
    const member = new Member('text')
    const isOver = this.#isOver(signal)
    const { leave } = this.#join(ref, member, signal)
    try {
      while (!isOver()) {
        await member.woken()
        // If the read fails, the next write brings the whole text again.
        const text = isOver() ? undefined : await this.#store.live.read(ref).catch(() => undefined)
        if (text) yield text
      }
    } finally {
      leave()
    }
  }

  #isOver(signal?: AbortSignal): () => boolean {
    return () => signal?.aborted === true || this.#ending.aborted
  }

  /** Reads commits for one follower: until it has caught up with the feed, and where its buffer has a gap. */
  async #missing(ref: Ref, feed: Feed, follower: Follower): Promise<readonly Commit[]> {
    if (feed.seq !== undefined && Math.max(feed.seq, feed.hinted) <= follower.seq) return []
    const commits = await commitsAfter(this.#store, ref, follower.seq, PAGE)
    follower.seq = commits.at(-1)?.seq ?? follower.seq
    if (commits.length === 0 && feed.seq === undefined) {
      // Not the follower's own seq, which may be past the head.
      feed.seq = (await this.#store.load(ref)).seq
    }
    // Another follower may have advanced the feed concurrently, and no further hint may arrive.
    if (commits.length === 0 && (feed.seq ?? 0) > follower.seq) follower.wake()
    return commits
  }

  #join(ref: Ref, member: Member, signal?: AbortSignal): { readonly feed: Feed; readonly leave: () => void } {
    const key = refKey(ref)
    const feed = this.#feeds.get(key) ?? new Feed()
    this.#feeds.set(key, feed)
    feed.members.add(member)
    const wake = (): void => member.wake()
    signal?.addEventListener('abort', wake)
    if (this.#feeds.size === 1 && feed.members.size === 1) this.#begin()
    const leave = (): void => {
      signal?.removeEventListener('abort', wake)
      feed.members.delete(member)
      if (feed.members.size === 0) this.#feeds.delete(key)
      if (this.#feeds.size === 0) this.#end()
    }
    return { feed, leave }
  }

  /** The first follower came. */
  #begin(): void {
    // The process must not exit under its followers: one handle for all of them.
    this.#keepAlive = setInterval(() => {}, KEEP_ALIVE_MS)
    clearTimeout(this.#lingering)
    if (this.#listening) return
    this.#listening = new AbortController()
    void this.#listen(this.#listening.signal)
  }

  #end(): void {
    clearInterval(this.#keepAlive)
    this.#lingering = setTimeout(() => {
      this.#listening?.abort('unused')
      this.#listening = undefined
    }, LINGER_MS).unref()
  }

  async #listen(signal: AbortSignal): Promise<void> {
    try {
      for await (const hint of this.#store.changes(signal)) this.#hear(hint)
    } catch (error) {
      this.#onError(error)
      await delay(RETRY_LISTENING_MS, undefined, { ref: false })
      if (signal.aborted) return
      // Hints were missed, so every member reads for itself.
      for (const feed of this.#feeds.values()) feed.reset()
      void this.#listen(signal)
    }
  }

  #hear(hint: Hint): void {
    const feed = this.#feeds.get(refKey(hint))
    if (!feed) return
    for (const member of feed.members) if (member.hears === hint.kind) member.wake()
    if (hint.kind === 'text') return
    feed.hinted = Math.max(feed.hinted, hint.seq)
    if (feed.seq === undefined) feed.reset()
    else if (hint.seq > feed.seq && feed.followers.length > 0) feed.reading ??= this.#read(hint, feed)
  }

  async #read(ref: Ref, feed: Feed): Promise<void> {
    try {
      for (;;) {
        const { hinted } = feed
        const commits = await commitsAfter(this.#store, ref, feed.seq ?? 0, PAGE)
        feed.seq = commits.at(-1)?.seq ?? feed.seq
        if (commits.length > 0) for (const follower of feed.followers) follower.offer(commits)
        // A hint that came during the read may announce a commit that the read missed.
        else if (hinted === feed.hinted) break
      }
    } catch (error) {
      this.#onError(error)
      // Each follower reads for itself and hits the error where its caller can handle it.
      feed.reset()
    } finally {
      feed.reading = undefined
    }
  }
}

/** The followers of one conversation, which share one read of its log. */
class Feed {
  readonly members = new Set<Member>()
  /** The position of the shared read; unknown until the first follower has caught up. */
  seq: number | undefined
  hinted = 0
  reading: Promise<void> | undefined

  get followers(): readonly Follower[] {
    return [...this.members].filter(member => member instanceof Follower)
  }

  reset(): void {
    this.seq = undefined
    for (const member of this.members) member.wake()
  }
}

class Member {
  /** The hints that wake it. */
  readonly hears: Hint['kind'] | undefined
  #wake = Promise.withResolvers<void>()

  constructor(hears?: Hint['kind']) {
    this.hears = hears
  }

  wake(): void {
    this.#wake.resolve()
  }

  async woken(): Promise<void> {
    await this.#wake.promise
    this.#wake = Promise.withResolvers<void>()
  }
}

/** Follows the log of a conversation. It tracks its own position, so no commit is missed or repeated. */
class Follower extends Member {
  seq: number
  #buffer: Commit[] = []
  #buffered = 0

  constructor(seq: number) {
    super()
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

  take(): readonly Commit[] {
    const fresh = this.#buffer.filter(({ seq }) => seq > this.seq)
    this.#clear()
    if (fresh[0]?.events[0]?.seq !== this.seq + 1) return []
    this.seq = fresh.at(-1)?.seq ?? this.seq
    return fresh
  }

  #clear(): void {
    this.#buffer = []
    this.#buffered = 0
  }
}
