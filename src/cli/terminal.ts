import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable & { readonly isTTY?: boolean; readonly columns?: number }
}

const DRAIN_MS = 100

export const isInteractive = ({ input, output }: Terminal): boolean => input.isTTY === true && output.isTTY === true

/** Discards typeahead: input from before the question does not answer it. */
export async function dropTyped(input: Readable): Promise<void> {
  input.resume()
  await delay(DRAIN_MS)
  input.pause()
}

/** Returns '' if the terminal closes. */
export async function ask(question: string, { input, output }: Terminal): Promise<string> {
  const reader = createInterface({ input, output })
  try {
    const closed = new Promise<string>(resolve => reader.once('close', () => resolve('')))
    return (await Promise.race([reader.question(question), closed])).trim()
  } finally {
    reader.close()
  }
}
