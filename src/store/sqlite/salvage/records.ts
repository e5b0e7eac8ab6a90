import type { PageImage, Pages } from './pages.ts'

// Formats: https://sqlite.org/fileformat2.html, sections 1.6 (pages of a tree) and 2.1 (records).

export type Value = string | number | null

/** A row as stored. `rowid` is separate in tables that have one. */
export interface RawRecord {
  readonly rowid: number | undefined
  readonly values: readonly Value[]
  readonly image: PageImage
}

export const TABLE_LEAF = 0x0d
export const TABLE_INTERIOR = 0x05
export const INDEX_LEAF = 0x0a
export const INDEX_INTERIOR = 0x02
export const DATABASE_HEADER = 100

/** Yields every readable row in all versions of all pages. Skips everything else. */
export function* recordsIn(pages: Pages): Generator<RawRecord> {
  for (const image of pages.images()) for (const records of cellsIn(image, pages)) yield* records
}

/** Yields the possible readings of each cell on a page; none for a damaged cell. */
export function* cellsIn(image: PageImage, pages: Pages): Generator<RawRecord[]> {
  const { page, bytes } = image
  const { kind, cells, pointers } = headerOf(page, bytes) ?? { kind: TABLE_INTERIOR, cells: 0, pointers: 0 }
  if (kind === TABLE_INTERIOR) return
  for (let cell = 0; cell < cells; cell += 1) {
    const pointer = pointers + 2 * cell
    const at = pointer + 2 <= bytes.length ? bytes.readUInt16BE(pointer) : bytes.length
    yield recordsAt(bytes, at, kind, pages).map(record => ({ ...record, image }))
  }
}

/** Parses a b-tree page header; undefined for any other page. */
export function headerOf(page: number, bytes: Buffer): { kind: number; cells: number; pointers: number } | undefined {
  const start = page === 1 ? DATABASE_HEADER : 0
  const kind = bytes[start]
  if (bytes.length < start + 12 || kind === undefined || !KINDS.has(kind)) return undefined
  const isInterior = kind === INDEX_INTERIOR || kind === TABLE_INTERIOR
  return { kind, cells: bytes.readUInt16BE(start + 3), pointers: start + (isInterior ? 12 : 8) }
}

const KINDS: ReadonlySet<number> = new Set([TABLE_LEAF, TABLE_INTERIOR, INDEX_LEAF, INDEX_INTERIOR])

function recordsAt(bytes: Buffer, at: number, kind: number, pages: Pages): Omit<RawRecord, 'image'>[] {
  try {
    const reader = new Reader(bytes, kind === INDEX_INTERIOR ? at + 4 : at)
    const length = reader.varint()
    const rowid = kind === TABLE_LEAF ? reader.varint() : undefined
    const payloads = payloadsAt(bytes, reader.at, length, kind, pages)
    return payloads.map(payload => ({ rowid, values: valuesIn(payload) }))
  } catch {
    // Not a row, or its overflow pages lead nowhere.
    return []
  }
}

/** The bytes of a row, including overflow pages: those of the WAL and, if different, those of the file. */
function payloadsAt(bytes: Buffer, at: number, length: number, kind: number, pages: Pages): Buffer[] {
  if (length > MAX_ROW) throw new RangeError('too long')
  const local = localLength(length, kind, pages.size)
  const begin = exactly(bytes.subarray(at, at + local), local)
  if (local === length) return [begin]
  const first = bytes.readUInt32BE(at + local)
  return ([0, -1] as const).flatMap(which => {
    const rest = overflow(pages, first, length - local, which)
    return rest ? [Buffer.concat([begin, ...rest])] : []
  })
}

/** `which`: 0 for the newest versions, -1 for those in the file. */
function overflow(pages: Pages, first: number, length: number, which: 0 | -1): Buffer[] | undefined {
  const parts: Buffer[] = []
  let page = first
  for (let left = length; left > 0; ) {
    const image = pages.imagesOf(page).at(which)
    const part = image?.subarray(4, 4 + Math.min(left, pages.size - 4))
    if (!image || !part || part.length === 0) return undefined
    parts.push(part)
    left -= part.length
    page = image.readUInt32BE(0)
  }
  return parts
}

/** None of our rows is longer. */
const MAX_ROW = 1 << 28

function localLength(length: number, kind: number, usable: number): number {
  const max = kind === TABLE_LEAF ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23
  if (length <= max) return length
  const min = Math.floor(((usable - 12) * 32) / 255) - 23
  const some = min + ((length - min) % (usable - 4))
  return some <= max ? some : min
}

function valuesIn(bytes: Buffer): Value[] {
  const header = new Reader(bytes, 0)
  const end = header.varint()
  const body = new Reader(bytes, end)
  const values: Value[] = []
  while (header.at < end) values.push(body.value(header.varint()))
  return values
}

function exactly(bytes: Buffer, length: number): Buffer {
  if (bytes.length !== length) throw new RangeError('cut off')
  return bytes
}

/** Size of each integer type. */
const INTEGERS = [0, 1, 2, 3, 4, 6, 8]

class Reader {
  readonly #bytes: Buffer
  at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  varint(): number {
    let value = 0
    for (let index = 0; index < 9; index += 1) {
      const byte = this.#bytes.readUInt8(this.at)
      this.at += 1
      if (index === 8) return value * 256 + byte
      value = value * 128 + (byte & 0x7f)
      if (byte < 0x80) return value
    }
    return value
  }

  value(type: number): Value {
    if (type === 0) return null
    if (type === 8 || type === 9) return type - 8
    const length = INTEGERS[type]
    if (length !== undefined) return this.#integer(length)
    if (type === 7 || type < 12) throw new RangeError('no type of ours')
    return this.#take(Math.floor((type - 12) / 2)).toString('utf8')
  }

  #integer(length: number): number {
    const bytes = this.#take(length)
    return length === 8 ? Number(bytes.readBigInt64BE()) : bytes.readIntBE(0, length)
  }

  #take(length: number): Buffer {
    const bytes = exactly(this.#bytes.subarray(this.at, this.at + length), length)
    this.at += length
    return bytes
  }
}
