import { useEffect, useState } from 'react'

const CALLER = 'runsheet-caller'
const IN_SIGHT = 'runsheet-in-sight'

/** Whether this window calls the person for all windows of this browser. When it is closed, another one does. */
export function useCaller(): boolean {
  // Pages over plain HTTP from another machine have no locks, and no notifications either.
  const [isCaller, setCaller] = useState(!('locks' in navigator))
  useEffect(() => {
    if (!('locks' in navigator)) return
    return held(CALLER, 'exclusive', () => setCaller(true))
  }, [])
  return isCaller
}

/** Tells all windows of this browser while the person looks at this one. */
export function useInSight(): void {
  useEffect(() => {
    if (!('locks' in navigator)) return
    let release: (() => void) | undefined
    const update = (): void => {
      const isInSight = document.visibilityState === 'visible' && document.hasFocus()
      if (isInSight) release ??= held(IN_SIGHT, 'shared')
      else {
        release?.()
        release = undefined
      }
    }
    update()
    const leave = new AbortController()
    const { signal } = leave
    document.addEventListener('visibilitychange', update, { signal })
    window.addEventListener('focus', update, { signal })
    window.addEventListener('blur', update, { signal })
    return () => {
      leave.abort()
      release?.()
    }
  }, [])
}

/** Whether the person looks at any window of this page. */
export async function isInSight(): Promise<boolean> {
  if (!('locks' in navigator)) return document.visibilityState === 'visible' && document.hasFocus()
  const { held: locks = [] } = await navigator.locks.query()
  return locks.some(({ name }) => name === IN_SIGHT)
}

/** Takes a lock as soon as it is free, and keeps it until the returned function is called. */
function held(name: string, mode: LockMode, onTaken = (): void => {}): () => void {
  const leave = new AbortController()
  const { promise, resolve } = Promise.withResolvers<void>()
  navigator.locks
    .request(name, { mode, signal: leave.signal }, () => {
      onTaken()
      return promise
    })
    // Given up before it was taken.
    .catch(() => {})
  return () => {
    leave.abort()
    resolve()
  }
}
