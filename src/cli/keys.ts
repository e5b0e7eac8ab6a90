import { setTimeout as delay } from 'node:timers/promises'
import type { ReadStream } from 'node:tty'

/** Ctrl-C, or a terminal that was closed. */
export const INTERRUPT = 'interrupt'

/** A key that a person presses: a character in lower case, or `INTERRUPT`. Rejects with the signal's reason. */
export function nextKey(input: ReadStream, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const heard = (chunk: Buffer): void => {
      const key = keyIn(chunk.toString('utf8'))
      if (key !== undefined) end(() => resolve(key))
    }
    const closed = (): void => end(() => resolve(INTERRUPT))
    const aborted = (): void => end(() => reject(signal.reason as Error))
    const end = (settle: () => void): void => {
      input.off('data', heard).off('end', closed).off('close', closed)
      signal.removeEventListener('abort', aborted)
      if (!input.destroyed) input.setRawMode(false)
      input.pause()
      settle()
    }
    if (signal.aborted) return reject(signal.reason as Error)
    signal.addEventListener('abort', aborted)
    input.on('data', heard).once('end', closed).once('close', closed)
    input.setRawMode(true)
    input.resume()
  })
}

/** Several characters at once were pasted, or are an arrow key: no answer. */
function keyIn(chunk: string): string | undefined {
  if (chunk === '\u0003' || chunk === '\u0004') return INTERRUPT
  return Array.from(chunk).length === 1 && chunk >= ' ' ? chunk.toLowerCase() : undefined
}

/** What was typed before anything was asked is no answer to it: neither lines nor single keys. */
export async function dropKeys(input: ReadStream): Promise<void> {
  input.setRawMode(true)
  input.resume()
  await delay(DROP_MS)
  input.pause()
  input.setRawMode(false)
}

const DROP_MS = 100
