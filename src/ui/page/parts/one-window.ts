import { useEffect, useState } from 'react'

const CALLER = 'runsheet-caller'
const IN_SIGHT = 'runsheet-in-sight'

/** Elects one window of this browser to notify the person; another takes over when it closes. */
export function useCaller(): boolean {
  // Insecure origins have neither locks nor notifications.
  const [isCaller, setCaller] = useState(!('locks' in navigator))
  useEffect(() => {
    if (!('locks' in navigator)) return
    return held(CALLER, 'exclusive', () => setCaller(true))
  }, [])
  return isCaller
}

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

export async function isInSight(): Promise<boolean> {
  if (!('locks' in navigator)) return document.visibilityState === 'visible' && document.hasFocus()
  const { held: locks = [] } = await navigator.locks.query()
  return locks.some(({ name }) => name === IN_SIGHT)
}

/** Takes a lock when it is free, and holds it until the returned function is called. */
function held(name: string, mode: LockMode, onTaken = (): void => {}): () => void {
  const leave = new AbortController()
  const { promise, resolve } = Promise.withResolvers<void>()
  navigator.locks
    .request(name, { mode, signal: leave.signal }, () => {
      onTaken()
      return promise
    })
    // Aborted before the lock was free.
    .catch(() => {})
  return () => {
    leave.abort()
    resolve()
  }
}
