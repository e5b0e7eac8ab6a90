import { join } from 'node:path'
import * as z from 'zod'
import { makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { causeOf } from './cause.ts'
import { CliError } from './cli-error.ts'
import type { SettingsFile } from './settings-file.ts'

/** Trust applies to this content at this path. */
export interface TrustedFile {
  readonly path: string
  readonly sha256: string
  /** ISO 8601. */
  readonly at: string
}

const MAX_BYTES = 10_000_000

const schema = z.object({ files: z.array(z.object({ path: z.string(), sha256: z.string(), at: z.string() })) })

/** Stored in `trusted.json` in the user's configuration folder. */
export class TrustList {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  all(): readonly TrustedFile[] {
    let text: string
    try {
      text = readRegularFile(this.#file, { maxBytes: MAX_BYTES, follow: true }).toString('utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw new CliError(`cannot read ${this.#file}: ${causeOf(error)}.`)
    }
    try {
      return schema.parse(JSON.parse(text)).files
    } catch {
      throw new CliError(`${this.#file} is damaged. Delete it, and trust your files again.`)
    }
  }

  has({ path, sha256 }: SettingsFile): boolean {
    return this.all().some(each => each.path === path && each.sha256 === sha256)
  }

  /** Replaces any trust in earlier content at this path. */
  add({ path, sha256 }: SettingsFile, at: Date): void {
    this.#write([...this.all().filter(each => each.path !== path), { path, sha256, at: at.toISOString() }])
  }

  /** Returns whether it was trusted. */
  remove(path: string): boolean {
    const all = this.all()
    const left = all.filter(each => each.path !== path)
    if (left.length < all.length) this.#write(left)
    return left.length < all.length
  }

  get #file(): string {
    return join(this.#folder, 'trusted.json')
  }

  #write(files: readonly TrustedFile[]): void {
    try {
      makePrivateFolder(this.#folder)
      replacePrivateFile(this.#file, `${JSON.stringify({ files }, null, 2)}\n`)
    } catch (error) {
      throw new CliError(`cannot write ${this.#file}: ${causeOf(error)}.`)
    }
  }
}
