import { CHECK_OUTPUT } from '../domain/proof.ts'
import type { Door, Lease } from '../door/door.ts'

/** How often a growing output is shown. */
const LIVE_MS = 300

/** The end of a run's output while it grows, as the live text of its turn. */
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

  /** A few times a second. */
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
