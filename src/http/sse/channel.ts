import { type Conversation, fold } from '../../domain/conversation.ts'
import type { Commit, LiveEntry, Ref, Door } from '../../door/door.ts'
import { framed, framedAside, framedTodos, touchesView } from './frames.ts'
import type { Reader } from './reader.ts'
import { Recent } from './recent.ts'

/** So many events are read at once for one who resumes. */
const PAGE = 100
/** Beyond this, of the lists that are due in one tick only the newest goes out: the others are history already. */
const MOST_LISTS = 128 * 1024

/** How often text is looked for that another process writes. */
const LOOK_EVERY_MS = 200

interface Page {
  readonly frames: string
  readonly seq: number
  readonly isOver?: boolean
}

interface Due {
  readonly frame: string
  /** The list in view, which a later one replaces. */
  readonly isList: boolean
  /** The turn that it ends. */
  readonly endOf?: string
}

/**
 * Everybody who follows one conversation here. They share one tail: an event is read once, framed once, and handed to
 * all of them in one write for each tick.
 */
export class Channel {
  readonly #door: Door
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
  /** The text that is being written, as far as everybody has it. */
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
        return this.#greet(reader)
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

  /** Text as it is being written, by a step that runs here. */
  showText(text: LiveEntry): void {
    clearInterval(this.#watch)
    this.#watch = undefined
    this.#spread(text)
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
    for await (const commit of this.#door.tail(this.#ref, { after: this.#state.seq, signal })) this.#take(commit)
  }

  /** Frames a commit: its facts, and the list in view where it touched that. */
  #take({ events }: Commit): void {
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

  /** One write for each reader, whatever has come together in this tick. */
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
    // These go on from where they are, one by one: they were ahead of us.
    for (const reader of wereAhead) {
      this.#live.delete(reader)
      void this.serve(reader).catch(() => reader.end())
    }
  }

  async #page(after: number, upTo: number, until: string | undefined): Promise<Page> {
    const page = await this.#door.conversations.eventsAfter(this.#ref, after, Math.min(PAGE, upTo - after))
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

  /** One who joins while a step is being written gets its text so far. */
  async #greet(reader: Reader): Promise<void> {
    while (!reader.gone) {
      const { running_turn, seq } = this.#state
      if (running_turn === null) return
      // Whoever writes it may have begun before there was anybody here to tell.
      if (!this.#text) this.#watchText()
      const text = this.#text ?? (await this.#door.liveText.read(this.#ref))
      // What came meanwhile may have ended that text: nobody is to see it after its end.
      if (this.#state.seq !== seq) continue
      if (text?.turn_id !== running_turn) return
      this.#text ??= text
      return reader.write(this.#framedText('text_snapshot', this.#text.message_id, this.#text.text))
    }
  }

  /** Hands on what has been added to a text; one that begins anew is sent as a whole. */
  #spread(text: LiveEntry): void {
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

  /** Looks now and then at what another process writes, while a turn runs and nobody here writes it. */
  #watchText(): void {
    if (this.#state.running_turn === null) {
      clearInterval(this.#watch)
      this.#watch = undefined
      return
    }
    this.#watch ??= setInterval(() => void this.#lookAtText(), LOOK_EVERY_MS).unref()
  }

  async #lookAtText(): Promise<void> {
    const { seq } = this.#state
    const text = await this.#door.liveText.read(this.#ref).catch(() => undefined)
    if (!text || this.#state.seq !== seq || !this.#watch) return
    // What is written now and then may lag behind what everybody has.
    const lags = this.#text?.message_id === text.message_id && this.#text.text.startsWith(text.text)
    if (!lags) this.#spread(text)
  }

  #framedText(type: 'text_delta' | 'text_snapshot', message_id: string, text: string): Buffer {
    return Buffer.from(framedAside(this.#state, type, { message_id, text }))
  }
}

function joined(due: readonly Due[]): Buffer {
  const size = due.reduce((sum, { frame, isList }) => sum + (isList ? frame.length : 0), 0)
  const last = due.findLastIndex(({ isList }) => isList)
  const kept = size <= MOST_LISTS ? due : due.filter(({ isList }, place) => !isList || place === last)
  return Buffer.from(kept.map(({ frame }) => frame).join(''))
}
