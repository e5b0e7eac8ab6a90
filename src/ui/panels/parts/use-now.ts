import { useLayoutEffect, useState } from 'react'
import type { Client } from '../../../client/client.ts'

/** The server's time in milliseconds, every second while it is needed; undefined before the first effect. */
export function useNow(client: Client, isNeeded: boolean): number | undefined {
  const [now, setNow] = useState<number>()
  // Rendering must not read a clock: the server's HTML has to match the browser's first render.
  useLayoutEffect(() => {
    if (!isNeeded) return
    const tick = (): void => setNow(client.now())
    tick()
    const timer = setInterval(tick, 1_000)
    return () => clearInterval(timer)
  }, [client, isNeeded])
  return isNeeded ? now : undefined
}
