/** What a server last answered, and why asking again failed, if it did. */
export interface PolledState<T> {
  /** Undefined until the first answer. */
  readonly value: T | undefined
  readonly error: unknown
}

/** An answer that is asked for again and again while somebody listens. */
export interface Polled<T> {
  readonly snapshot: () => PolledState<T>
  readonly subscribe: (listener: () => void) => () => void
  /** Asks now, and again if an answer was on its way. Never rejects: the state has the error. */
  readonly reload: () => Promise<void>
  /** Puts another value in the place of the answer; one that is on its way is asked for again. */
  readonly put: (value: T) => void
}

export interface PollOptions {
  readonly everyMs: number
  /** Also while the page is hidden. */
  readonly whileHidden?: boolean
}

/** Polls `load` from the first listener to the last, and whenever the page becomes visible. */
export function polled<T>(load: () => Promise<T>, { everyMs, whileHidden = false }: PollOptions): Polled<T> {
  const listeners = new Set<() => void>()
  let state: PolledState<T> = { value: undefined, error: null }
  let version = 0
  let underWay: Promise<void> | undefined
  let timer: ReturnType<typeof setInterval> | undefined
  const set = (next: PolledState<T>): void => {
    state = next
    for (const listener of listeners) listener()
  }
  const ask = async (): Promise<void> => {
    for (;;) {
      const asked = version
      let next: PolledState<T>
      try {
        next = { value: await load(), error: null }
      } catch (error) {
        next = { ...state, error }
      }
      if (version !== asked) continue
      // Before the listeners hear of it: one that reloads asks anew.
      underWay = undefined
      return set(next)
    }
  }
  const asking = (): Promise<void> => {
    underWay ??= ask()
    return underWay
  }
  const reload = (): Promise<void> => {
    version += 1
    return asking()
  }
  const look = (): void => {
    if (whileHidden || !isHidden()) void asking()
  }
  const start = (): void => {
    void asking()
    timer = setInterval(look, everyMs)
    pageOf()?.addEventListener('visibilitychange', look)
  }
  const stop = (): void => {
    clearInterval(timer)
    pageOf()?.removeEventListener('visibilitychange', look)
  }
  return {
    snapshot: () => state,
    subscribe: listener => {
      listeners.add(listener)
      if (listeners.size === 1) start()
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop()
      }
    },
    reload,
    put: value => {
      version += 1
      set({ value, error: null })
    },
  }
}

/** Where there is a page. */
interface Page {
  readonly visibilityState: string
  addEventListener(type: string, listener: () => void): void
  removeEventListener(type: string, listener: () => void): void
}

const pageOf = (): Page | undefined => (globalThis as { readonly document?: Page }).document

const isHidden = (): boolean => pageOf()?.visibilityState === 'hidden'
