import { type Door, type LiveEntry, type Ref, refKey } from '../door/door.ts'

/** How often a growing text is written for other processes. */
const WRITE_INTERVAL_MS = 150

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
    const entry = this.#texts.get(refKey(ref)) ?? { latest, timer: undefined, writing: Promise.resolve() }
    entry.latest = latest
    entry.timer ??= setTimeout(() => {
      entry.timer = undefined
      // Live text is best effort: other processes get the text with the stored step.
      entry.writing = this.#door.liveText.write(refOf(ref), entry.latest).catch(() => {})
    }, WRITE_INTERVAL_MS)
    this.#texts.set(refKey(ref), entry)
    this.#onText(refOf(ref), latest)
  }

  textOf(ref: Ref): string {
    return this.#texts.get(refKey(ref))?.latest.text ?? ''
  }

  /** Clears the text of a step that is about to be stored, or is over. */
  async done(ref: Ref): Promise<void> {
    const entry = this.forget(ref)
    if (!entry) return
    await entry.writing
    await this.#door.liveText.clear(refOf(ref)).catch(() => {})
  }

  /** Clears what a process that died may have left. */
  async clear(ref: Ref): Promise<void> {
    await this.#door.liveText.clear(refOf(ref)).catch(() => {})
  }

  /** Stops writing without clearing: the turn may have another driver now. */
  forget(ref: Ref): Entry | undefined {
    const entry = this.#texts.get(refKey(ref))
    clearTimeout(entry?.timer)
    this.#texts.delete(refKey(ref))
    return entry
  }
}

interface Entry {
  latest: LiveEntry
  timer: NodeJS.Timeout | undefined
  writing: Promise<void>
}

const refOf = ({ tenant, conversation }: Ref): Ref => ({ tenant, conversation })
