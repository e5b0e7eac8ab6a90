import { chmodSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { isBaseUrl, type SavedSettings } from '../domain/settings.ts'
import { readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { causeOf } from './cause.ts'
import { SETTINGS_FILE } from './default-paths.ts'

const MAX_BYTES = 65_536
const FORMAT = 1

const schema = z.strictObject({
  format: z.literal(FORMAT),
  settings: z
    .strictObject({
      model: z.string().max(300),
      base_url: z.string().refine(isBaseUrl, { error: 'must be an http or https URL without a login or a query' }),
      key: z.strictObject({ value: z.string().regex(/^[\x21-\x7e]{1,500}$/), endpoint: z.string() }),
      assessor_model: z.string().max(300),
      review: z.boolean(),
      review_timeout_ms: z.int().nullable(),
      gate: z.boolean(),
    })
    .partial(),
})

/** A settings file that cannot be used, with the reason in words. It is never overwritten. */
export class UnusableSettings extends Error {
  override readonly name = 'UnusableSettings'
}

/** The settings in a data folder, as they are on disk. */
export class SettingsOnDisk {
  readonly path: string

  constructor(folder: string) {
    this.path = join(folder, SETTINGS_FILE)
  }

  /** Another one whenever the file may be another: it may be edited, replaced or removed while a server runs. */
  stamp(): string {
    try {
      const stat = lstatSync(this.path, { bigint: true, throwIfNoEntry: false })
      return stat ? [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ') : ''
    } catch (error) {
      return causeOf(error)
    }
  }

  /** The bytes and what they say; no file says nothing. Throws `UnusableSettings`. */
  read(): { readonly bytes: Buffer; readonly saved: SavedSettings } {
    const bytes = this.#bytes()
    if (!bytes) return { bytes: Buffer.alloc(0), saved: {} }
    let raw: unknown
    try {
      raw = JSON.parse(bytes.toString('utf8'))
    } catch (error) {
      // The message quotes the file, which has a key.
      const [where = ''] = /at position \d+/.exec((error as Error).message) ?? []
      throw new UnusableSettings(['it is not valid JSON', where].filter(Boolean).join(' '))
    }
    const parsed = schema.safeParse(raw)
    if (parsed.success) return { bytes, saved: parsed.data.settings as SavedSettings }
    const [issue] = parsed.error.issues
    throw new UnusableSettings([issue?.path.join('.'), issue?.message].filter(Boolean).join(': '))
  }

  /** Replaces the file in one step. Throws the reason in words; then the old one is still there. */
  write(saved: SavedSettings): void {
    try {
      replacePrivateFile(this.path, `${JSON.stringify({ format: FORMAT, settings: saved }, null, 2)}\n`, {
        isFlushed: true,
      })
    } catch (error) {
      throw new UnusableSettings(causeOf(error))
    }
  }

  #bytes(): Buffer | undefined {
    try {
      const bytes = readRegularFile(this.path, { maxBytes: MAX_BYTES, follow: false })
      if (process.platform !== 'win32' && (lstatSync(this.path).mode & 0o077) !== 0) chmodSync(this.path, 0o600)
      return bytes
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw new UnusableSettings(causeOf(error))
    }
  }
}
