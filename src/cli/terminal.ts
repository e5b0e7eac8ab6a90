import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** A terminal's two sides. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable & { readonly isTTY?: boolean; readonly columns?: number }
}

const DRAIN_MS = 100

/** Whether a person is there. */
export const isInteractive = ({ input, output }: Terminal): boolean => input.isTTY === true && output.isTTY === true

/** What was typed or pasted before anything was shown is no answer to it. */
export async function dropTyped(input: Readable): Promise<void> {
  input.resume()
  await delay(DRAIN_MS)
  input.pause()
}

/** What a person types; closing the terminal is no answer. */
export async function ask(question: string, { input, output }: Terminal): Promise<string> {
  const reader = createInterface({ input, output })
  try {
    const closed = new Promise<string>(resolve => reader.once('close', () => resolve('')))
    return (await Promise.race([reader.question(question), closed])).trim()
  } finally {
    reader.close()
  }
}
