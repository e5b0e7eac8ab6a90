import { type Hint, refKey } from './store.ts'

export const hintKey = (hint: Hint): string => `${hint.kind} ${refKey(hint)}`

/** Passes hints to all listeners. A slow listener gets the newest hint per conversation, not a queue. */
export class Hints {
  readonly #listeners = new Set<(hint: Hint) => void>()
  readonly #onFirst: () => void
  readonly #onLast: () => void

  /** `onFirst` runs when the first listener joins, `onLast` when the last one leaves. */
  constructor(onFirst: () => void = () => {}, onLast: () => void = () => {}) {
    this.#onFirst = onFirst
    this.#onLast = onLast
  }

  publish(hint: Hint): void {
    for (const listener of this.#listeners) listener(hint)
  }

  subscribe(signal: AbortSignal): AsyncIterable<Hint> {
    const waiting = new Map<string, Hint>()
    let wake = Promise.withResolvers<void>()
    const listener = (hint: Hint): void => {
      waiting.set(hintKey(hint), hint)
      wake.resolve()
    }
    const stop = (): void => {
      if (!this.#listeners.delete(listener)) return
      wake.resolve()
      if (this.#listeners.size === 0) this.#onLast()
    }
    if (!signal.aborted) {
      if (this.#listeners.size === 0) this.#onFirst()
      this.#listeners.add(listener)
      signal.addEventListener('abort', stop, { once: true })
    }
    return (async function* () {
      try {
        while (!signal.aborted) {
          await wake.promise
          wake = Promise.withResolvers<void>()
          const hints = [...waiting.values()]
          waiting.clear()
          if (!signal.aborted) yield* hints
        }
      } finally {
        signal.removeEventListener('abort', stop)
        stop()
      }
    })()
  }
}
