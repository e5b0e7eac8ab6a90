import type { Ref, Runsheet } from '../runsheet.ts'

export interface Shown {
  readonly turn_id: string
  readonly message_id: string
  readonly text: string
}

/** How often other processes are shown how far a text is. */
const EVERY_MS = 150

/** The text of running steps: at once to those in this process, now and then to the others. */
export class LiveText {
  readonly #runsheet: Runsheet
  readonly #onText: (ref: Ref, shown: Shown) => void
  readonly #texts = new Map<string, { shown: Shown; timer: NodeJS.Timeout | undefined }>()

  constructor(runsheet: Runsheet, onText: (ref: Ref, shown: Shown) => void) {
    this.#runsheet = runsheet
    this.#onText = onText
  }

  show(ref: Ref, shown: Shown): void {
    const entry = this.#texts.get(keyOf(ref))
    const write = (): void => {
      const latest = this.#texts.get(keyOf(ref))
      if (!latest) return
      latest.timer = undefined
      // Not part of the log: where it cannot be written, others wait for the step itself.
      void this.#runsheet.store.live.write(refOf(ref), latest.shown).catch(() => {})
    }
    const timer = entry?.timer ?? setTimeout(write, EVERY_MS)
    this.#texts.set(keyOf(ref), { shown, timer })
    this.#onText(refOf(ref), shown)
  }

  textOf(ref: Ref): string {
    return this.#texts.get(keyOf(ref))?.shown.text ?? ''
  }

  /** The step is stored, or over. */
  async done(ref: Ref): Promise<void> {
    const entry = this.#texts.get(keyOf(ref))
    if (!entry) return
    clearTimeout(entry.timer)
    this.#texts.delete(keyOf(ref))
    await this.#runsheet.store.live.clear(refOf(ref)).catch(() => {})
  }
}

const refOf = ({ tenant, conversation }: Ref): Ref => ({ tenant, conversation })
const keyOf = ({ tenant, conversation }: Ref): string => `${tenant}/${conversation}`
