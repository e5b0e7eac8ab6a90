import { existsSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { FileRecord } from '../setup/change.ts'
import { makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'

/** What setup knows of a file, and the folders that it made for it. */
export interface SetupRecord extends FileRecord {
  readonly folders: readonly string[]
}

type Records = Readonly<Record<string, SetupRecord>>

const MAX_BYTES = 1 << 28

/** What setup wrote where, in the user's configuration folder: how to undo it, never a copy of a whole file. */
export class SetupRecords {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  get(path: string): SetupRecord | undefined {
    return this.#all()[path]
  }

  /** Undefined forgets the file. */
  set(path: string, record: SetupRecord | undefined): void {
    const { [path]: _, ...others } = this.#all()
    const all: Records = record ? { ...others, [path]: record } : others
    if (Object.keys(all).length > 0) {
      makePrivateFolder(this.#folder)
      replacePrivateFile(this.#file, `${JSON.stringify(all, null, 1)}\n`)
    } else if (existsSync(this.#file)) this.#removeAll()
  }

  #removeAll(): void {
    rmSync(this.#file)
    try {
      rmdirSync(this.#folder)
    } catch {
      // It has the user's settings.
    }
  }

  /** Without a readable record, entries are still found by what they are. */
  #all(): Records {
    try {
      const text = readRegularFile(this.#file, { maxBytes: MAX_BYTES, follow: false }).toString('utf8')
      return JSON.parse(text) as Records
    } catch {
      return {}
    }
  }

  get #file(): string {
    return join(this.#folder, 'setup.json')
  }
}
