import { type Ref, refKey, type Door } from '../door/door.ts'

export interface Shown {
  readonly turn_id: string
  readonly message_id: string
  readonly text: string
}

/** How often other processes are shown how far a text is. */
const EVERY_MS = 150

/** The text of running steps: at once to those in this process, now and then to the others. */
export class LiveText {
  readonly #door: Door
  readonly #onText: (ref: Ref, shown: Shown) => void
  readonly #texts = new Map<string, Entry>()

  constructor(door: Door, onText: (ref: Ref, shown: Shown) => void) {
    this.#door = door
    this.#onText = onText
  }

  show(ref: Ref, shown: Shown): void {
    const entry = this.#texts.get(refKey(ref)) ?? { shown, timer: undefined, writing: Promise.resolve() }
    entry.shown = shown
    entry.timer ??= setTimeout(() => {
      entry.timer = undefined
      // Not part of the log: where it cannot be written, others wait for the step itself.
      entry.writing = this.#door.liveText.write(refOf(ref), entry.shown).catch(() => {})
    }, EVERY_MS)
    this.#texts.set(refKey(ref), entry)
    this.#onText(refOf(ref), shown)
  }

  textOf(ref: Ref): string {
    return this.#texts.get(refKey(ref))?.shown.text ?? ''
  }

  /** The step is about to be stored, or over: nobody is to be shown its text after that. */
  async done(ref: Ref): Promise<void> {
    const entry = this.forget(ref)
    if (!entry) return
    await entry.writing
    await this.#door.liveText.clear(refOf(ref)).catch(() => {})
  }

  /** Nothing is being written: what is left of another process is not shown any more. */
  async clear(ref: Ref): Promise<void> {
    await this.#door.liveText.clear(refOf(ref)).catch(() => {})
  }

  /** Somebody else writes from now on, if anybody does. */
  forget(ref: Ref): Entry | undefined {
    const entry = this.#texts.get(refKey(ref))
    clearTimeout(entry?.timer)
    this.#texts.delete(refKey(ref))
    return entry
  }
}

interface Entry {
  shown: Shown
  timer: NodeJS.Timeout | undefined
  writing: Promise<void>
}

const refOf = ({ tenant, conversation }: Ref): Ref => ({ tenant, conversation })
