import { closeSync, openSync, readSync } from 'node:fs'

export interface Line {
  readonly number: number
  readonly text: string
}

const CHUNK = 1 << 18
/** Longer than any event: a file without line ends must not exhaust memory. */
const MAX_LINE_BYTES = 64 << 20

/** Throws a `LineError` at a line that is not UTF-8 or too long. */
export function* linesOf(path: string): Generator<Line> {
  const file = openSync(path, 'r')
  try {
    let number = 0
    for (const bytes of split(file)) {
      number += 1
      yield { number, text: decoded(bytes, number) }
    }
  } finally {
    closeSync(file)
  }
}

function* split(file: number): Generator<Buffer> {
  const chunk = Buffer.alloc(CHUNK)
  let parts: Buffer[] = []
  let size = 0
  for (;;) {
    const length = readSync(file, chunk, 0, CHUNK, null)
    if (length === 0) break
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1 && end < length; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)])
      parts = []
      size = 0
      start = end + 1
    }
    if (start < length) parts.push(Buffer.from(chunk.subarray(start, length)))
    size += length - start
    if (size > MAX_LINE_BYTES) throw new LineError(undefined, 'it has a line of more than 64 MB')
  }
  if (parts.length > 0) yield Buffer.concat(parts)
}

export class LineError extends Error {
  constructor(line: number | undefined, problem: string) {
    super(line === undefined ? problem : `line ${line}: ${problem}`)
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decoded(bytes: Buffer, number: number): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new LineError(number, 'it is not UTF-8')
  }
}
