import { type Conversation, emptyConversation, fold } from '../../core/model/conversation.ts'
import { CHECK_OUTPUT } from '../../core/proof/proof.ts'
import type { Commit, LiveEntry, Ref, Door } from '../../engine/door/door.ts'
import type { Role } from './access.ts'
import { framed, framedAside, framedTodos, touchesView } from './frames.ts'
import type { Reader } from './reader.ts'
import { Recent } from './recent.ts'

/** Page limits for a reader that resumes: the whole page is in memory. */
const PAGE = 100
const PAGE_BYTES = 256 * 1024
/** Above this many characters only the newest list of a tick is sent; it supersedes the others. */
const MAX_LISTS = 128 * 1024

interface Page {
  readonly frames: string
  readonly seq: number
  readonly isOver?: boolean
}

interface Due {
  readonly frame: string
  readonly isList: boolean
  readonly endOf?: string
}

/**
 * Serves all readers of one conversation and role in this process from one tail: each event is read and framed once, then sent
 * to all readers in one write per tick.
 */
export class Channel {
  readonly #door: Door
  readonly #ref: Ref
  readonly #role: Role
  readonly #stop = new AbortController()
  readonly #live = new Set<Reader>()
  readonly #recent = new Recent()
  #state: Conversation
  /** Frames not yet sent, and the seq that they reach. */
  #due: Due[] = []
  #framed: number
  /** The seq that live readers have received. */
  #sent: number
  #text: LiveEntry | undefined
  #stored: LiveEntry | undefined
  /** Finished messages of the running turn, whose text is now in the log. */
  readonly #finished = new Set<string>()
  #todos: { readonly seq: number; readonly frame: Buffer } | undefined

  constructor(door: Door, ref: Ref, role: Role, state: Conversation, onEnd: (error?: unknown) => void) {
    this.#door = door
    this.#ref = ref
    this.#role = role
    this.#state = state
    this.#framed = this.#sent = state.seq
    void this.#follow().then(() => onEnd(), onEnd)
    void this.#followText()
  }

  get head(): number {
    return this.#framed
  }

  /** Replays what the reader missed, sends the task list, then keeps the reader live. */
  async serve(reader: Reader): Promise<void> {
    while (!reader.gone) {
      // Flush first, so that no frame is lost between replay and live.
      this.#flush()
      if (reader.seq >= this.#sent) {
        this.#live.add(reader)
        // Another process wrote events that we have not read yet; the reader gets the list once we catch up.
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
      // Yields, so that a fast reader does not starve the others.
      await new Promise(setImmediate)
    }
  }

  showText(text: LiveEntry): void {
    // Live text may arrive before the commit that starts its check; keep it until then.
    this.#stored = this.#isRunning(text) ? undefined : text
    this.#spread(text)
  }

  forget(reader: Reader): void {
    this.#live.delete(reader)
  }

  close(): void {
    this.#stop.abort()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    for await (const commit of this.#door.tail(this.#ref, { after: this.#state.seq, signal })) this.#take(commit)
  }

  #take({ events }: Commit): void {
    const before = this.#state
    this.#state = fold(before, events)
    if (this.#due.length === 0) setImmediate(() => this.#flush())
    for (const event of events) {
      if (event.type === 'step_finished') this.#finished.add(event.data.message_id)
      if (event.type === 'turn_finished') this.#finished.clear()
      const frame = framed(event, this.#role)
      const ends = event.type === 'turn_finished' ? { endOf: event.data.turn_id } : {}
      this.#due.push({ frame, isList: false, ...ends })
      this.#recent.add(event.seq, frame)
    }
    this.#framed = this.#state.seq
    if (touchesView(events, before, this.#state)) this.#due.push({ frame: framedTodos(this.#state), isList: true })
    if (this.#text && !this.#isRunning(this.#text)) this.#text = undefined
    // Live text may have arrived before the commit that starts its turn.
    this.#showStored()
  }

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
    // These readers were ahead of us; replay the rest for each one.
    for (const reader of wereAhead) {
      this.#live.delete(reader)
      void this.serve(reader).catch(() => reader.end())
    }
  }

  async #page(after: number, upTo: number, until: string | undefined): Promise<Page> {
    const limit = Math.min(PAGE, upTo - after)
    const page = await this.#door.conversations.eventsAfter(this.#ref, after, limit, PAGE_BYTES)
    const end = page.findIndex(event => event.type === 'turn_finished' && event.data.turn_id === until)
    const events = end < 0 ? page : page.slice(0, end + 1)
    const last = events.at(-1)
    if (!last) throw new Error(`the log ends at ${after}, before ${upTo}`)
    const frames = events.map(event => framed(event, this.#role))
    if (end < 0) return { frames: frames.join(''), seq: last.seq }
    // The list goes before the turn's last event, because clients may stop reading there.
    return { frames: frames.toSpliced(-1, 0, await this.#listAt(last.seq)).join(''), seq: last.seq, isOver: true }
  }

  /** Rebuilds the task list as it was last sent before `seq`. */
  async #listAt(seq: number): Promise<string> {
    let state = emptyConversation(this.#ref.conversation)
    let shown = state
    for await (const { events, seq: head } of this.#door.tail(this.#ref, this.#stop)) {
      const before = state
      state = fold(before, events)
      if (touchesView(events, before, state)) shown = state
      if (head >= seq) break
    }
    return framedTodos(shown)
  }

  #framedTodos(): Buffer {
    const { seq } = this.#state
    if (this.#todos?.seq !== seq) this.#todos = { seq, frame: Buffer.from(framedTodos(this.#state)) }
    return this.#todos.frame
  }

  async #greet(reader: Reader): Promise<void> {
    if (!this.#mayWrite) return
    const text = this.#text ?? (await this.#door.liveText.read(this.#ref))
    if (text && !this.#text) this.#spread(text, reader)
    if (this.#text) reader.write(this.#framedText('text_snapshot', this.#text.message_id, this.#text.text))
  }

  async #followText(): Promise<void> {
    for await (const text of this.#door.texts(this.#ref, this.#stop)) {
      this.#stored = text
      this.#showStored()
    }
  }

  #showStored(): void {
    const [shown, stored] = [this.#text, this.#stored]
    // In this process the stored text lags behind the text already sent.
    const lags = shown?.message_id === stored?.message_id && shown?.text.startsWith(stored?.text ?? '')
    if (stored && !lags) this.#spread(stored)
  }

  /** Sends the added part of a text, or the full text if it restarted. */
  #spread(text: LiveEntry, except?: Reader): void {
    if (!this.#isRunning(text)) return
    this.#flush()
    const before = this.#text?.message_id === text.message_id ? this.#text.text : ''
    if (text.text === before) return
    const goesOn = text.text.startsWith(before)
    const frame = goesOn
      ? this.#framedText('text_delta', text.message_id, text.text.slice(before.length))
      : this.#framedText('text_snapshot', text.message_id, text.text)
    this.#text = text
    for (const reader of this.#live) if (reader.seq === this.#sent && reader !== except) reader.write(frame)
  }

  /** Live text exists only while a turn or a check runs. */
  get #mayWrite(): boolean {
    const { running_turn, runs } = this.#state
    return running_turn !== null || [...runs.values()].some(({ started }) => started !== undefined)
  }

  /** True while a text can still grow: a step of the running turn, or a running check's output in any turn. */
  #isRunning({ turn_id, message_id }: LiveEntry): boolean {
    if (message_id.startsWith(CHECK_OUTPUT)) {
      const run = message_id.slice(CHECK_OUTPUT.length)
      return [...this.#state.runs.values()].some(({ started }) => started?.run_id === run)
    }
    return turn_id === this.#state.running_turn && !this.#finished.has(message_id)
  }

  #framedText(type: 'text_delta' | 'text_snapshot', message_id: string, text: string): Buffer {
    return Buffer.from(framedAside(this.#state, type, { message_id, text }))
  }
}

function joined(due: readonly Due[]): Buffer {
  const size = due.reduce((sum, { frame, isList }) => sum + (isList ? frame.length : 0), 0)
  const last = due.findLastIndex(({ isList }) => isList)
  const kept = size <= MAX_LISTS ? due : due.filter(({ isList }, place) => !isList || place === last)
  return Buffer.from(kept.map(({ frame }) => frame).join(''))
}
