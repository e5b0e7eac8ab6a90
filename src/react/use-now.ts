import { useEffect, useState } from 'react'
import type { Client } from '../client/client.ts'

/** The server's time, every second, while somebody needs it. */
export function useNow(client: Client, isNeeded: boolean): number {
  const [now, setNow] = useState(client.now)
  useEffect(() => {
    if (!isNeeded) return
    setNow(client.now())
    const timer = setInterval(() => setNow(client.now()), 1_000)
    return () => clearInterval(timer)
  }, [client, isNeeded])
  return now
}

/** Minutes and seconds, or hours and minutes. */
export function clockOf(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const pad = (value: number): string => String(value).padStart(2, '0')
  if (seconds >= 3_600) return `${Math.floor(seconds / 3_600)}:${pad(Math.floor((seconds % 3_600) / 60))} h`
  return `${Math.floor(seconds / 60)}:${pad(seconds % 60)}`
}
