import { setTimeout as delay } from 'node:timers/promises'
import type { App } from './compose.ts'
import type { ServerLock } from './server-lock.ts'

/** Resolves on SIGINT or SIGTERM. Ignores repeats: on Ctrl-C npm sends a second SIGINT. */
export function signalled(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => resolve('Stopping: finishing requests in progress.'))
    }
  })
}

export async function replaced(lock: ServerLock): Promise<string> {
  await lock.lost()
  return 'Stopping: server.lock was deleted, and another server has taken the data folder.'
}

const MAX_TIMER_MS = 2 ** 31 - 1

export async function idleFor(ms: number, app: App): Promise<string> {
  for (let left = ms; left > 0; left = ms - app.idleMs()) {
    await delay(Math.min(left + 5, MAX_TIMER_MS), undefined, { ref: false })
  }
  return 'Stopping: no requests, streams or running turns for a while.'
}
