import { type Conversation, fold } from '../../domain/conversation.ts'
import type { Commit, LiveEntry, Ref, Door } from '../../door/door.ts'
import { framed, framedAside, framedTodos, touchesView } from './frames.ts'
import type { Reader } from './reader.ts'
import { Recent } from './recent.ts'

/** Events that a replay reads at a time. */
const PAGE_SIZE = 100
/** If the lists of one tick are larger than this, only the newest is sent. */
const MAX_LISTS_LENGTH = 128 * 1024
/** How often live text of another process is polled. */
const POLL_TEXT_MS = 200

interface Page {
  readonly frames: string
  readonly seq: number
  readonly isOver?: boolean
}

interface Due {
  readonly frame: string
  /** The list in view, which a later one replaces. */
  readonly isList: boolean
  /** The turn that it ends, if any. */
  readonly endOf?: string
}

/**
 * The readers of one conversation. They share one tail: an event is read once, framed once, and written to all of them
 * in one write per tick.
 */
export class Channel {
  readonly #door: Door
  readonly #ref: Ref
  readonly #stop = new AbortController()
  readonly #live = new Set<Reader>()
  readonly #recent = new Recent()
  #state: Conversation
  /** Frames that wait for the end of the tick, and the seq up to which they reach. */
  #due: Due[] = []
  #framed: number
  /** The seq up to which live readers have everything. */
  #sent: number
  /** The text of the running step, as far as live readers have it. */
  #text: LiveEntry | undefined
  #watch: NodeJS.Timeout | undefined
  #todos: { readonly seq: number; readonly frame: Buffer } | undefined

  constructor(door: Door, ref: Ref, state: Conversation, onEnd: (error?: unknown) => void) {
    this.#door = door
    this.#ref = ref
    this.#state = state
    this.#framed = this.#sent = state.seq
    this.#watchText()
    void this.#follow().then(() => onEnd(), onEnd)
  }

  get head(): number {
    return this.#framed
  }

  /** Replays what a reader has missed, sends it the list, and adds it to the live readers. */
  async serve(reader: Reader): Promise<void> {
    while (!reader.gone) {
      // Nothing may be lost between replay and live.
      this.#flush()
      if (reader.seq >= this.#sent) {
        this.#live.add(reader)
        // It knows events of another process that we have not read yet; the list follows once we have.
        if (reader.seq > this.#sent) return
        reader.write(this.#framedTodos())
        return this.#sendTextSoFar(reader)
      }
      const known: Page | undefined =
        reader.until === undefined ? this.#recent.between(reader.seq, this.#sent) : undefined
      const events = known ?? (await this.#page(reader.seq, this.#sent, reader.until))
      reader.seq = events.seq
      reader.write(events.frames)
      await reader.drained()
      if (events.isOver) return reader.end()
    }
  }

  /** Shows the text of a step that runs in this process. */
  showText(text: LiveEntry): void {
    clearInterval(this.#watch)
    this.#watch = undefined
    this.#broadcastText(text)
  }

  forget(reader: Reader): void {
    this.#live.delete(reader)
  }

  close(): void {
    clearInterval(this.#watch)
    this.#stop.abort()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    for await (const commit of this.#door.tail(this.#ref, { after: this.#state.seq, signal })) this.#frame(commit)
  }

  /** Frames a commit: its events, and the list in view if it touched that. */
  #frame({ events }: Commit): void {
    const before = this.#state
    this.#state = fold(before, events)
    if (this.#due.length === 0) setImmediate(() => this.#flush())
    for (const event of events) {
      if (event.type === 'step_finished' || event.type === 'turn_finished') this.#text = undefined
      const frame = framed(event)
      const ends = event.type === 'turn_finished' ? { endOf: event.data.turn_id } : {}
      this.#due.push({ frame, isList: false, ...ends })
      this.#recent.add(event.seq, frame)
    }
    this.#framed = this.#state.seq
    this.#watchText()
    if (touchesView(events, before, this.#state)) this.#due.push({ frame: framedTodos(this.#state), isList: true })
  }

  /** Writes everything that is due in this tick, once to each reader. */
  #flush(): void {
    if (this.#due.length === 0) return
    const due = this.#due
    const chunk = joined(due)
    const from = this.#sent
    this.#due = []
    this.#sent = this.#framed
    const wereAhead: Reader[] = []
    const over: Reader[] = []
    for (const reader of this.#live) {
      const end = reader.until === undefined ? -1 : due.findIndex(({ endOf }) => endOf === reader.until)
      if (reader.seq === from) {
        reader.write(end < 0 ? chunk : joined(due.slice(0, end + 1)))
        reader.seq = this.#sent
        if (end >= 0) over.push(reader)
      } else if (reader.seq <= this.#sent) wereAhead.push(reader)
    }
    for (const reader of over) {
      this.#live.delete(reader)
      reader.end()
    }
    // These were ahead of us; each continues from its own place.
    for (const reader of wereAhead) {
      this.#live.delete(reader)
      void this.serve(reader).catch(() => reader.end())
    }
  }

  async #page(after: number, upTo: number, until: string | undefined): Promise<Page> {
    const page = await this.#door.conversations.eventsAfter(this.#ref, after, Math.min(PAGE_SIZE, upTo - after))
    const end = page.findIndex(event => event.type === 'turn_finished' && event.data.turn_id === until)
    const events = end < 0 ? page : page.slice(0, end + 1)
    const last = events.at(-1)
    if (!last) throw new Error(`the log ends at ${after}, before ${upTo}`)
    return { frames: events.map(framed).join(''), seq: last.seq, isOver: end >= 0 }
  }

  #framedTodos(): Buffer {
    const { seq } = this.#state
    if (this.#todos?.seq !== seq) this.#todos = { seq, frame: Buffer.from(framedTodos(this.#state)) }
    return this.#todos.frame
  }

  /** Sends the text so far to a reader that joins during a step. */
  async #sendTextSoFar(reader: Reader): Promise<void> {
    while (!reader.gone) {
      const { running_turn, seq } = this.#state
      if (running_turn === null) return
      // The step may have started before this channel.
      if (!this.#text) this.#watchText()
      const text = this.#text ?? (await this.#door.liveText.read(this.#ref))
      // An event may have ended that text meanwhile.
      if (this.#state.seq !== seq) continue
      if (text?.turn_id !== running_turn) return
      this.#text ??= text
      return reader.write(this.#framedText('text_snapshot', this.#text.message_id, this.#text.text))
    }
  }

  /** Sends what was added to the text, or all of it if it started over. */
  #broadcastText(text: LiveEntry): void {
    if (text.turn_id !== this.#state.running_turn) return
    this.#flush()
    const before = this.#text?.message_id === text.message_id ? this.#text.text : ''
    if (text.text === before) return
    const goesOn = text.text.startsWith(before)
    const frame = goesOn
      ? this.#framedText('text_delta', text.message_id, text.text.slice(before.length))
      : this.#framedText('text_snapshot', text.message_id, text.text)
    this.#text = text
    for (const reader of this.#live) if (reader.seq === this.#sent) reader.write(frame)
  }

  /** Polls the text of another process while a turn runs that this process does not drive. */
  #watchText(): void {
    if (this.#state.running_turn === null) {
      clearInterval(this.#watch)
      this.#watch = undefined
      return
    }
    this.#watch ??= setInterval(() => void this.#pollText(), POLL_TEXT_MS).unref()
  }

  async #pollText(): Promise<void> {
    const { seq } = this.#state
    const text = await this.#door.liveText.read(this.#ref).catch(() => undefined)
    if (!text || this.#state.seq !== seq || !this.#watch) return
    // The stored text may lag behind what readers have.
    const lags = this.#text?.message_id === text.message_id && this.#text.text.startsWith(text.text)
    if (!lags) this.#broadcastText(text)
  }

  #framedText(type: 'text_delta' | 'text_snapshot', message_id: string, text: string): Buffer {
    return Buffer.from(framedAside(this.#state, type, { message_id, text }))
  }
}

function joined(due: readonly Due[]): Buffer {
  const size = due.reduce((sum, { frame, isList }) => sum + (isList ? frame.length : 0), 0)
  const last = due.findLastIndex(({ isList }) => isList)
  const kept = size <= MAX_LISTS_LENGTH ? due : due.filter(({ isList }, place) => !isList || place === last)
  return Buffer.from(kept.map(({ frame }) => frame).join(''))
}
