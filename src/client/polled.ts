/** The last answer of a server, and the error of the last poll if it failed. */
export interface PolledState<T> {
  /** Undefined until the first answer. */
  readonly value: T | undefined
  readonly error: unknown
}

export interface Polled<T> {
  readonly snapshot: () => PolledState<T>
  readonly subscribe: (listener: () => void) => () => void
  /** Reloads now, and once more if a request is in flight. Never rejects: errors are in the state. */
  readonly reload: () => Promise<void>
  /** Replaces the answer; a request in flight is repeated. */
  readonly put: (value: T) => void
}

export interface PollOptions {
  readonly everyMs: number
  /** Also polls while the page is hidden. */
  readonly whileHidden?: boolean
}

/** Polls `load` while there are listeners, and whenever the page becomes visible. */
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
      // Cleared before listeners run: one that reloads has to start a new request.
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

interface Page {
  readonly visibilityState: string
  addEventListener(type: string, listener: () => void): void
  removeEventListener(type: string, listener: () => void): void
}

const pageOf = (): Page | undefined => (globalThis as { readonly document?: Page }).document

const isHidden = (): boolean => pageOf()?.visibilityState === 'hidden'
