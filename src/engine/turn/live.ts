import { CHECK_OUTPUT } from '../../core/proof/proof.ts'
import { type Door, type Lease, type LiveEntry, type Ref, refKey } from '../door/door.ts'
import { headOf } from '../worker/received.ts'

/** How often a growing text is written for other processes. */
const WRITE_INTERVAL_MS = 150
/** Longer texts are not shown while they grow, because each update sends and stores the whole text. */
const MAX_SHOWN = 100_000

const LIVE_MS = 300

/** The text of running steps: published at once in this process, and throttled to the store for others. */
export class LiveText {
  readonly #door: Door
  readonly #onText: (ref: Ref, latest: LiveEntry) => void
  readonly #texts = new Map<string, Entry>()

  constructor(door: Door, onText: (ref: Ref, latest: LiveEntry) => void) {
    this.#door = door
    this.#onText = onText
  }

  show(ref: Ref, latest: LiveEntry): void {
    const entry = this.#texts.get(refKey(ref)) ?? {
      text: '',
      shown: latest,
      timer: undefined,
      writing: Promise.resolve(),
    }
    const isFull = entry.text.length > MAX_SHOWN && latest.text.length > entry.text.length
    entry.text = latest.text
    this.#texts.set(refKey(ref), entry)
    if (isFull) return
    entry.shown = { ...latest, text: headOf(latest.text, MAX_SHOWN) }
    entry.timer ??= setTimeout(() => {
      entry.timer = undefined
      // Live text is best effort: other processes get the text with the stored step.
      entry.writing = this.#door.liveText.write(refOf(ref), entry.shown).catch(() => {})
    }, WRITE_INTERVAL_MS)
    this.#onText(refOf(ref), entry.shown)
  }

  textOf(ref: Ref): string {
    return this.#texts.get(refKey(ref))?.text ?? ''
  }

  async done(ref: Ref): Promise<void> {
    const entry = this.forget(ref)
    if (!entry) return
    await entry.writing
    await this.#door.liveText.clear(refOf(ref)).catch(() => {})
  }

  /** Clears what a dead process may have left. */
  async clear(ref: Ref): Promise<void> {
    await this.#door.liveText.clear(refOf(ref)).catch(() => {})
  }

  /** Stops writing without clearing: another driver may have the turn now. */
  forget(ref: Ref): Entry | undefined {
    const entry = this.#texts.get(refKey(ref))
    clearTimeout(entry?.timer)
    this.#texts.delete(refKey(ref))
    return entry
  }
}

interface Entry {
  text: string
  shown: LiveEntry
  timer: NodeJS.Timeout | undefined
  writing: Promise<void>
}

const refOf = ({ tenant, conversation }: Ref): Ref => ({ tenant, conversation })

/** Shows the end of a run's growing output as its turn's live text. */
export class LiveOutput {
  readonly #door: Door
  readonly #lease: Lease
  readonly #message: string
  readonly #onError: (error: unknown) => void
  #shownAt: number | undefined

  constructor(door: Door, lease: Lease, runId: string, onError: (error: unknown) => void) {
    this.#door = door
    this.#lease = lease
    this.#message = `${CHECK_OUTPUT}${runId}`
    this.#onError = onError
  }

  show(tail: () => string): void {
    const now = performance.now()
    if (this.#shownAt !== undefined && now - this.#shownAt < LIVE_MS) return
    this.#shownAt = now
    const entry = { turn_id: this.#lease.turn, message_id: this.#message, text: tail() }
    this.#door.liveText.write(this.#lease, entry).catch(this.#onError)
  }

  get isShown(): boolean {
    return this.#shownAt !== undefined
  }

  async clear(): Promise<void> {
    await this.#door.liveText.clear(this.#lease).catch(this.#onError)
  }
}
