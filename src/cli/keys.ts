import { setTimeout as delay } from 'node:timers/promises'
import type { Writable } from 'node:stream'
import type { ReadStream } from 'node:tty'

/** Ctrl-C, or a closed terminal. */
export const INTERRUPT = 'interrupt'

/** Waits for one of these keys or `INTERRUPT`. Others ring the bell. Rejects with the signal's reason. */
export async function pressedKey(
  keys: string,
  { input, output }: { readonly input: ReadStream; readonly output: Writable },
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    const key = await nextKey(input, signal)
    if (key === INTERRUPT || (key !== '' && keys.includes(key))) return key
    output.write(BELL)
  }
}

const BELL = '\u0007'

/** A lower-case character, `INTERRUPT`, or empty if the input is not a single key. */
function nextKey(input: ReadStream, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const heard = (chunk: Buffer): void => {
      end(() => resolve(keyIn(chunk.toString('utf8'))))
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

/** Several characters at once are a paste or an arrow key, not an answer. */
function keyIn(chunk: string): string {
  if (chunk === '\u0003' || chunk === '\u0004') return INTERRUPT
  return Array.from(chunk).length === 1 && chunk >= ' ' ? chunk.toLowerCase() : ''
}

/** Discards typeahead: input from before the question does not answer it. */
export async function dropKeys(input: ReadStream): Promise<void> {
  input.setRawMode(true)
  input.resume()
  await delay(DROP_MS)
  input.pause()
  input.setRawMode(false)
}

const DROP_MS = 100
