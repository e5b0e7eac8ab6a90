/** Calls back when a stream is silent for too long: a dead connection does not always close. */
export class Watchdog {
  readonly #ms: number
  readonly #onSilence: () => void
  #timer: ReturnType<typeof setTimeout>

  constructor(ms: number, onSilence: () => void) {
    this.#ms = ms
    this.#onSilence = onSilence
    this.#timer = setTimeout(onSilence, ms)
  }

  /** Passes chunks through; each one restarts the timer. */
  watched(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
    return new TransformStream({
      transform: (chunk, controller) => {
        this.stop()
        this.#timer = setTimeout(this.#onSilence, this.#ms)
        controller.enqueue(chunk)
      },
    })
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
