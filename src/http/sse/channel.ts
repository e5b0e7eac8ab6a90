import { type Conversation, fold } from '../../domain/conversation.ts'
import type { StoredEvent } from '../../domain/event.ts'
import type { Ref, Runsheet } from '../../runsheet.ts'
import { framed, framedAside, framedTodos, touchesView } from './frames.ts'
import type { Reader } from './reader.ts'
import { Recent } from './recent.ts'

/** So many events are read at once for one who resumes. */
const PAGE = 100
/** Beyond this, of the lists that are due in one tick only the newest goes out: the others are history already. */
const MOST_LISTS = 128 * 1024

interface Due {
  readonly frame: string
  /** The list in view, which a later one replaces. */
  readonly isList: boolean
}

/**
 * Everybody who follows one conversation here. They share one tail: an event is read once, framed once, and handed to
 * all of them in one write for each tick.
 */
export class Channel {
  readonly #runsheet: Runsheet
  readonly #ref: Ref
  readonly #stop = new AbortController()
  readonly #live = new Set<Reader>()
  readonly #recent = new Recent()
  #state: Conversation
  /** What is framed and not handed out yet, and up to where that reaches. */
  #due: Due[] = []
  #framed: number
  /** How far those are who have everything. */
  #sent: number
  #todos: { readonly seq: number; readonly frame: Buffer } | undefined

  constructor(runsheet: Runsheet, ref: Ref, state: Conversation, onEnd: (error?: unknown) => void) {
    this.#runsheet = runsheet
    this.#ref = ref
    this.#state = state
    this.#framed = this.#sent = state.seq
    void this.#follow().then(() => onEnd(), onEnd)
  }

  get head(): number {
    return this.#framed
  }

  /** Gives a reader what it has missed, the list as it is, and from then on what comes. */
  async serve(reader: Reader): Promise<void> {
    while (!reader.gone) {
      // Nothing that is due may fall between what is replayed and what is live.
      this.#flush()
      if (reader.seq >= this.#sent) {
        this.#live.add(reader)
        // It has seen what another process wrote and we have not read: it gets the list once we have.
        if (reader.seq > this.#sent) return
        reader.write(this.#framedTodos())
        return this.#showText(reader)
      }
      const events = this.#recent.between(reader.seq, this.#sent) ?? (await this.#page(reader.seq, this.#sent))
      reader.seq = events.seq
      reader.write(events.frames)
      await reader.drained()
    }
  }

  forget(reader: Reader): void {
    this.#live.delete(reader)
  }

  close(): void {
    this.#stop.abort()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    for await (const events of this.#runsheet.tail(this.#ref, { after: this.#state.seq, signal })) {
      for (const commit of Map.groupBy(events, ({ timestamp }) => timestamp).values()) this.#take(commit)
    }
  }

  /** Frames a commit: its facts, and the list in view where it touched that. */
  #take(commit: readonly StoredEvent[]): void {
    const before = this.#state
    this.#state = fold(before, commit)
    if (this.#due.length === 0) setImmediate(() => this.#flush())
    for (const event of commit) {
      const frame = framed(event)
      this.#due.push({ frame, isList: false })
      this.#recent.add(event.seq, frame)
    }
    this.#framed = this.#state.seq
    if (touchesView(commit, before, this.#state)) this.#due.push({ frame: framedTodos(this.#state), isList: true })
  }

  /** One write for each reader, whatever has come together in this tick. */
  #flush(): void {
    if (this.#due.length === 0) return
    const chunk = joined(this.#due)
    const from = this.#sent
    this.#due = []
    this.#sent = this.#framed
    const wereAhead: Reader[] = []
    for (const reader of this.#live) {
      if (reader.seq === from) {
        reader.write(chunk)
        reader.seq = this.#sent
      } else if (reader.seq <= this.#sent) wereAhead.push(reader)
    }
    // These go on from where they are.
    for (const reader of wereAhead) {
      this.#live.delete(reader)
      void this.serve(reader).catch(() => reader.end())
    }
  }

  async #page(after: number, upTo: number): Promise<{ readonly frames: string; readonly seq: number }> {
    const events = await this.#runsheet.store.eventsAfter(this.#ref, after, Math.min(PAGE, upTo - after))
    return { frames: events.map(framed).join(''), seq: events.at(-1)?.seq ?? upTo }
  }

  #framedTodos(): Buffer {
    const { seq } = this.#state
    if (this.#todos?.seq !== seq) this.#todos = { seq, frame: Buffer.from(framedTodos(this.#state)) }
    return this.#todos.frame
  }

  /** One who joins while a step is being written gets its text so far. */
  async #showText(reader: Reader): Promise<void> {
    while (!reader.gone) {
      const { running_turn, seq } = this.#state
      if (running_turn === null) return
      const live = await this.#runsheet.store.live.read(this.#ref)
      // What came meanwhile may have ended that text: nobody is to see it after its end.
      if (this.#state.seq !== seq) continue
      if (live?.turn_id !== running_turn) return
      const { message_id, text } = live
      return reader.write(framedAside(this.#state, 'text_snapshot', { message_id, text }))
    }
  }
}

function joined(due: readonly Due[]): Buffer {
  const size = due.reduce((sum, { frame, isList }) => sum + (isList ? frame.length : 0), 0)
  const last = due.findLastIndex(({ isList }) => isList)
  const kept = size <= MOST_LISTS ? due : due.filter(({ isList }, place) => !isList || place === last)
  return Buffer.from(kept.map(({ frame }) => frame).join(''))
}
