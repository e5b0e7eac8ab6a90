import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { GATE_MARK } from '../domain/host-marks.ts'

/** Read limit from the end: Gemini CLI also appends rewrites of the whole conversation. */
const MAX_TAIL = 4 * 1024 * 1024

/**
 * Detects that a person cancelled Gemini CLI's work on their newest prompt. Hooks do not report this: after Esc they
 * get stale texts and those of an agent that Gemini CLI resumes by itself. False if the transcript is unreadable.
 */
export function wasCancelled(transcript: string): boolean {
  for (const line of tailOf(transcript).split('\n').toReversed()) {
    const { type, content } = recordIn(line)
    if (type === 'info' && content === 'Request cancelled.') return true
    if (type === 'user' && isPrompt(content)) return false
  }
  return false
}

/** Excludes tool results and the messages of Gemini CLI or our gate. */
function isPrompt(content: unknown): boolean {
  const parts = (Array.isArray(content) ? content : [{ text: content }]) as readonly Record<string, unknown>[]
  const [first] = parts.map(({ text }) => text)
  return typeof first === 'string' && !first.startsWith(GATE_MARK) && !first.startsWith('[System: ')
}

function tailOf(path: string): string {
  let file: number | undefined
  try {
    // O_NONBLOCK, because opening a pipe would block.
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
  // Skip rewritten conversations and a partial first line.
  if (!line.startsWith('{') || line.startsWith('{"$set"')) return {}
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}
