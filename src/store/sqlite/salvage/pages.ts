import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

// Formats: https://sqlite.org/fileformat2.html, sections 1.3 (the database header) and 4 (the WAL).

const WAL_HEADER = 32
const FRAME_HEADER = 24

/** One version of a page, current or old. */
export interface PageImage {
  readonly page: number
  readonly bytes: Buffer
  /** In the database file, not in the WAL. */
  readonly isInFile: boolean
  readonly isNewest: boolean
}

/** The pages of a database file and its WAL, read without SQLite, which gives up at the first damaged one. */
export class Pages {
  readonly size: number
  readonly #main: number | undefined
  readonly #wal: number | undefined
  readonly #mainPages: number
  readonly #frames: readonly number[]
  readonly #newest: ReadonlyMap<number, number>

  constructor(path: string) {
    this.#main = opened(path)
    this.#wal = opened(`${path}-wal`)
    this.size = pageSizeIn(read(this.#main, 0, 18)) ?? walPageSize(this.#wal) ?? 4_096
    this.#mainPages = Math.ceil(sizeOf(this.#main) / this.size)
    this.#frames = committedFrames(this.#wal, this.size)
    this.#newest = new Map(this.#frames.map((page, frame) => [page, frame]))
  }

  /** All versions of all pages: first the file's, then the WAL's in write order. */
  *images(): Generator<PageImage> {
    for (let page = 1; page <= this.#mainPages; page += 1) {
      yield { page, bytes: this.#inMain(page), isInFile: true, isNewest: !this.#newest.has(page) }
    }
    for (const [frame, page] of this.#frames.entries()) {
      yield { page, bytes: this.#inWal(frame), isInFile: false, isNewest: this.#newest.get(page) === frame }
    }
  }

  newest(page: number): PageImage {
    const frame = this.#newest.get(page)
    const bytes = frame === undefined ? this.#inMain(page) : this.#inWal(frame)
    return { page, bytes, isInFile: frame === undefined, isNewest: true }
  }

  /** The newest version of a page, and the file's if that differs: the WAL may belong to another database. */
  imagesOf(page: number): Buffer[] {
    const frame = this.#newest.get(page)
    const inFile = page >= 1 && page <= this.#mainPages ? [this.#inMain(page)] : []
    return frame === undefined ? inFile : [this.#inWal(frame), ...inFile]
  }

  close(): void {
    for (const file of [this.#main, this.#wal]) if (file !== undefined) closeSync(file)
  }

  #inMain(page: number): Buffer {
    if (page < 1 || page > this.#mainPages) return Buffer.alloc(0)
    return read(this.#main, (page - 1) * this.size, this.size)
  }

  #inWal(frame: number): Buffer {
    return read(this.#wal, frameAt(frame, this.size) + FRAME_HEADER, this.size)
  }
}

/**
 * Page numbers of the frames up to the last commit. Ignores checksums, which cover all earlier frames, because each
 * event has its own. Different salts mark frames from before the last checkpoint, unless only one frame has them, which
 * is damage.
 */
function committedFrames(wal: number | undefined, pageSize: number): number[] {
  const salts = read(wal, 16, 8)
  const pages: number[] = []
  let committed = 0
  for (let frame = 0; ; frame += 1) {
    const header = read(wal, frameAt(frame, pageSize), FRAME_HEADER)
    if (header.length < FRAME_HEADER) break
    if (!isOf(header, salts) && !isOf(read(wal, frameAt(frame + 1, pageSize), FRAME_HEADER), salts)) break
    pages.push(header.readUInt32BE(0))
    if (header.readUInt32BE(4) !== 0) committed = pages.length
  }
  return pages.slice(0, committed)
}

const isOf = (frame: Buffer, salts: Buffer): boolean => frame.subarray(8, 16).equals(salts)

const frameAt = (frame: number, pageSize: number): number => WAL_HEADER + frame * (FRAME_HEADER + pageSize)

function pageSizeIn(header: Buffer): number | undefined {
  if (header.length < 18 || header.toString('latin1', 0, 15) !== 'SQLite format 3') return undefined
  const size = header.readUInt16BE(16)
  return size === 1 ? 65_536 : validSize(size)
}

function walPageSize(wal: number | undefined): number | undefined {
  const header = read(wal, 0, WAL_HEADER)
  return header.length === WAL_HEADER ? validSize(header.readUInt32BE(8)) : undefined
}

const validSize = (size: number): number | undefined =>
  size >= 512 && size <= 65_536 && (size & (size - 1)) === 0 ? size : undefined

function opened(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const sizeOf = (file: number | undefined): number => (file === undefined ? 0 : fstatSync(file).size)

/** Returns fewer bytes at the end of the file. */
function read(file: number | undefined, at: number, length: number): Buffer {
  if (file === undefined) return Buffer.alloc(0)
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, at))
}
