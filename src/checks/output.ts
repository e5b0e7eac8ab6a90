import { createHash } from 'node:crypto'
import { plainText } from '../core/text/plain-text.ts'
import type { Redactor } from '../core/text/redact.ts'

/** Bytes of an output's end that are kept. */
export const MAX_TAIL = 8_000
/** Larger than the tail, because colours and secrets are cut out of it. */
const WINDOW = 64_000
/** Where a text is cut, the word there is dropped, because half a secret is not recognized. */
const MAX_WORD = 2_000

interface Options {
  /** Searched for in the whole output, byte for byte. */
  readonly contains: string | undefined
  readonly maxBytes: number
  readonly redact: Redactor
}

/** Streams a command's output: hashes and searches it, and keeps only its end. */
export class Output {
  readonly #redact: Redactor
  readonly #maxBytes: number
  readonly #hash = createHash('sha256')
  readonly #search: Search | undefined
  /** The last chunks, at least a window of them. */
  readonly #recent: Buffer[] = []
  #recentBytes = 0
  #bytes = 0

  constructor({ contains, maxBytes, redact }: Options) {
    this.#redact = redact
    this.#maxBytes = maxBytes
    this.#search = contains === undefined ? undefined : new Search(contains)
  }

  /** False once the limit is exceeded; the rest is dropped. */
  take(chunk: Buffer): boolean {
    const taken = chunk.subarray(0, this.#maxBytes - this.#bytes)
    this.#hash.update(taken)
    this.#search?.take(taken)
    this.#keep(taken)
    return taken.length === chunk.length
  }

  get isFound(): boolean {
    return this.#search?.isFound ?? true
  }

  /** Covers everything taken. Call once, at the end. */
  sha256(): string {
    return this.#hash.digest('hex')
  }

  /** The end of the output for people and models: plain text, secrets removed. */
  tail(): string {
    return this.#clean(this.#window())
  }

  /** The same during a run, without the last word, which may be half a secret. */
  liveTail(): string {
    const text = this.#window()
    const end = text.slice(-MAX_WORD).replace(/\S+$/, '')
    return this.#clean(text.slice(0, -MAX_WORD) + end)
  }

  #clean(text: string): string {
    return lastBytes(this.#redact.content(plainText(text)) as string, MAX_TAIL)
  }

  #window(): string {
    const text = Buffer.concat(this.#recent).subarray(-WINDOW).toString('utf8')
    return this.#bytes <= WINDOW ? text : text.slice(0, MAX_WORD).replace(/^\S+/, '') + text.slice(MAX_WORD)
  }

  #keep(taken: Buffer): void {
    this.#recent.push(taken)
    this.#bytes += taken.length
    this.#recentBytes += taken.length
    for (let [first] = this.#recent; first && this.#recentBytes - first.length >= WINDOW; [first] = this.#recent) {
      this.#recentBytes -= first.length
      this.#recent.shift()
    }
  }
}

export class Search {
  readonly #sought: Buffer
  #end: Buffer = Buffer.alloc(0)
  isFound = false

  constructor(text: string) {
    this.#sought = Buffer.from(text)
  }

  take(chunk: Buffer): void {
    if (this.isFound) return
    const text = Buffer.concat([this.#end, chunk])
    this.isFound = text.includes(this.#sought)
    // Copied, because a slice would retain the whole chunk.
    this.#end = Buffer.from(text.subarray(Math.max(0, text.length - this.#sought.length + 1)))
  }
}

function lastBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  const end = bytes.subarray(-limit)
  return end.subarray(end.findIndex(byte => (byte & 0xc0) !== 0x80)).toString('utf8')
}
