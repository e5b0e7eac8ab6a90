import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Covers } from './scope.ts'

/** The files of a workspace as they were when a plan was approved and its checks had run first: path to hash. */
export interface PlanRecord {
  /** The commit that was checked out. */
  readonly commit?: string | undefined
  readonly covers: Covers
  /** Files that git listed; absent if they were too many. */
  readonly listed?: Readonly<Record<string, string>> | undefined
  /** Other files that the table protects or a check names. */
  readonly watched: Readonly<Record<string, string>>
  /** Files that the first runs wrote: later runs may write them, too. */
  readonly written: readonly string[]
}

const MAX_KNOWN = 4

/** Records in a folder, each under the hash of its content. They are never changed. */
export class Records {
  readonly #known = new Map<string, PlanRecord>()

  /** Undefined if its file is gone, or is not what its name says. */
  read(folder: string, id: string): PlanRecord | undefined {
    const known = this.#known.get(id)
    if (known) return known
    try {
      const text = readFileSync(join(folder, `${id}.json`), 'utf8')
      return hash('sha256', text) === id ? this.#remember(id, JSON.parse(text) as PlanRecord) : undefined
    } catch {
      return undefined
    }
  }

  /** Flushed before it is named in the log. */
  write(folder: string, record: PlanRecord): string {
    const text = JSON.stringify(record)
    const id = hash('sha256', text)
    const file = join(folder, `${id}.json`)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600, flush: true })
    renameSync(`${file}.${process.pid}`, file)
    this.#remember(id, record)
    return id
  }

  #remember(id: string, record: PlanRecord): PlanRecord {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(id, record)
    return record
  }
}

export const filesIn = ({ listed = {}, watched }: PlanRecord): ReadonlyMap<string, string> =>
  new Map([...Object.entries(listed), ...Object.entries(watched)])
