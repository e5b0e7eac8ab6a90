import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { GATE_MARK } from '../domain/host-marks.ts'

/** How much of the end of a transcript is read. Gemini CLI also rewrites the whole conversation there. */
const MAX_TAIL = 4 * 1024 * 1024

/**
 * Whether a person cancelled what Gemini CLI does about their newest prompt, by its transcript. Its hooks do not say so: after
 * Esc they get the texts from before, and those of an agent that Gemini CLI then asks to go on by itself. False if the
 * transcript cannot be read.
 */
export function wasCancelled(transcript: string): boolean {
  for (const line of tailOf(transcript).split('\n').toReversed()) {
    const { type, content } = recordIn(line)
    if (type === 'info' && content === 'Request cancelled.') return true
    if (type === 'user' && isPrompt(content)) return false
  }
  return false
}

/** Not what tools answered, nor what Gemini CLI or our gate tells the agent. */
function isPrompt(content: unknown): boolean {
  const parts = (Array.isArray(content) ? content : [{ text: content }]) as readonly Record<string, unknown>[]
  const [first] = parts.map(({ text }) => text)
  return typeof first === 'string' && !first.startsWith(GATE_MARK) && !first.startsWith('[System: ')
}

function tailOf(path: string): string {
  let file: number | undefined
  try {
    // A pipe would keep us waiting.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const found = fstatSync(file)
    if (!found.isFile()) return ''
    const bytes = Buffer.alloc(Math.min(found.size, MAX_TAIL))
    const read = readSync(file, bytes, 0, bytes.length, found.size - bytes.length)
    return bytes.toString('utf8', 0, read)
  } catch {
    return ''
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function recordIn(line: string): Readonly<Record<string, unknown>> {
  // Not worth parsing: a rewritten conversation, or what is left of a line that begins before the tail.
  if (!line.startsWith('{') || line.startsWith('{"$set"')) return {}
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}
