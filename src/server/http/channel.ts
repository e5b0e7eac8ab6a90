import { emptyConversation, fold, type Conversation } from '../../core/model/conversation.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import { CHECK_OUTPUT } from '../../core/proof/proof.ts'
import type { Commit, Door, LiveEntry, Ref } from '../../engine/door/door.ts'
import type { Role } from './access.ts'
import { framed, framedAside, framedTodos, touchesView } from './frames.ts'
import type { Reader } from './streams.ts'
import { notFound } from './replies.ts'

/** Page limits for a reader that resumes: the whole page is in memory. */
const PAGE = 100
const PAGE_BYTES = 256 * 1024
/** Above this many characters only the newest list of a tick is sent; it supersedes the others. */
const MAX_LISTS = 128 * 1024

interface Due {
  /** The last event that the frame is about. */
  readonly seq: number
  readonly frame: string
  readonly isList?: true
  readonly endOf?: string
}

/**
 * Serves all readers of one conversation and role in this process from one tail: each event is read and framed once,
 * then sent to all readers in one write per tick.
 */
export class Channel {
  /** Rejects if there is nothing to follow. */
  readonly ready: Promise<void>
  readonly readers = new Set<Reader>()
  readonly #door: Door
  readonly #ref: Ref
  readonly #role: Role
  readonly #onEnd: (error?: unknown) => void
  readonly #stop = new AbortController()
  /** Readers that have caught up. */
  readonly #live = new Set<Reader>()
  #state: Conversation
  /** Frames not yet sent. */
  #due: Due[] = []
  /** The seq that live readers have received. */
  #sent = 0
  #text: LiveEntry | undefined
  #stored: LiveEntry | undefined
  /** Finished messages of the running turn, whose text is now in the log. */
  readonly #finished = new Set<string>()

  constructor(door: Door, ref: Ref, role: Role, onEnd: (error?: unknown) => void) {
    this.#door = door
    this.#ref = ref
    this.#role = role
    this.#onEnd = onEnd
    this.#state = emptyConversation(ref.conversation)
    this.ready = this.#open()
  }

  /** Replays what the reader missed, sends the task list, then keeps the reader live. */
  async serve(reader: Reader): Promise<void> {
    while (!reader.gone) {
      // Flush first, so that no frame is lost between replay and live.
      this.#flush()
      if (reader.seq >= this.#sent) {
        this.#live.add(reader)
        // Another process wrote events that we have not read yet; the reader is greeted once we catch up.
        if (reader.seq === this.#sent) await this.#greet(reader)
        return
      }
      this.#send(reader, await this.#page(reader))
      await reader.drained()
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
    this.readers.delete(reader)
    this.#live.delete(reader)
  }

  close(): void {
    this.#stop.abort()
  }

  async #open(): Promise<void> {
    this.#state = await this.#door.read(this.#ref)
    this.#sent = this.#state.seq
    if (this.#sent === 0) throw notFound('session_not_found', 'There is no such conversation.')
    void this.#follow().then(() => this.#onEnd(), this.#onEnd)
    void this.#followText()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    for await (const commit of this.#door.tail(this.#ref, { after: this.#state.seq, signal })) this.#take(commit)
  }

  #take({ events }: Commit): void {
    const before = this.#state
    this.#state = fold(before, events)
    const { seq } = this.#state
    if (this.#due.length === 0) setImmediate(() => this.#flush())
    for (const event of events) {
      if (event.type === 'step_finished') this.#finished.add(event.data.message_id)
      if (event.type === 'turn_finished') this.#finished.clear()
      this.#due.push(this.#framed(event))
    }
    if (touchesView(events, before, this.#state)) {
      this.#due.push({ seq, frame: framedTodos(this.#state), isList: true })
    }
    if (this.#text && !this.#isRunning(this.#text)) this.#text = undefined
    // Live text may have arrived before the commit that starts its turn.
    this.#showStored()
  }

  #flush(): void {
    const due = this.#due
    if (due.length === 0) return
    const from = this.#sent
    const chunk = joined(due)
    this.#due = []
    this.#sent = this.#state.seq
    for (const reader of this.#live) {
      if (reader.seq > this.#sent) continue
      if (reader.seq > from) {
        this.#send(
          reader,
          due.filter(({ seq, isList }) => seq > reader.seq && !isList),
        )
        void this.#greet(reader)
      } else if (reader.until === undefined) {
        reader.write(chunk)
        reader.seq = this.#sent
      } else this.#send(reader, due)
    }
  }

  /** Ends the stream of a reader that follows one turn with that turn. */
  #send(reader: Reader, due: readonly Due[]): void {
    const end = due.findIndex(({ endOf }) => endOf !== undefined && endOf === reader.until)
    reader.write(joined(end < 0 ? due : due.slice(0, end + 1)))
    reader.seq = due.at(-1)?.seq ?? this.#sent
    if (end >= 0) reader.end()
  }

  async #page({ seq: after, until }: Reader): Promise<readonly Due[]> {
    const limit = Math.min(PAGE, this.#sent - after)
    const events = await this.#door.conversations.eventsAfter(this.#ref, after, limit, PAGE_BYTES)
    if (events.length === 0) throw new Error(`the log ends at ${after}, before ${this.#sent}`)
    // The list goes before the turn's last event, because clients may stop reading there.
    return events.flatMap(event => {
      const due = this.#framed(event)
      const isEnd = due.endOf !== undefined && due.endOf === until
      return isEnd ? [{ seq: event.seq, frame: framedTodos(this.#state) }, due] : [due]
    })
  }

  #framed(event: StoredEvent): Due {
    const frame = framed(event, this.#role)
    return { seq: event.seq, frame, ...(event.type === 'turn_finished' ? { endOf: event.data.turn_id } : {}) }
  }

  /** Sends the task list, and the text so far while a turn or a check runs. */
  async #greet(reader: Reader): Promise<void> {
    reader.write(framedTodos(this.#state))
    const { running_turn, runs } = this.#state
    if (running_turn === null && ![...runs.values()].some(({ started }) => started !== undefined)) return
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
