import { chmodSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { isBaseUrl, type SavedSettings } from '../domain/settings.ts'
import { TOOL_RULES } from '../domain/tool-rules.ts'
import { makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { causeOf } from './cause.ts'

/** The page's settings in the user's configuration folder. Holds the API key. */
export const SETTINGS_FILE = 'settings.json'

const MAX_BYTES = 1_000_000
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
      tools: z.record(
        z.string(),
        z.record(z.string(), z.strictObject({ rule: z.enum(TOOL_RULES), fingerprint: z.string().max(200).optional() })),
      ),
    })
    .partial(),
})

/** A settings file that cannot be used, with the reason. It is never overwritten. */
export class UnusableSettings extends Error {
  override readonly name = 'UnusableSettings'
}

export interface SettingsRead {
  /** Empty if there is no file. */
  readonly bytes: Buffer
  readonly saved: SavedSettings
}

export class SettingsOnDisk {
  readonly path: string
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    this.path = join(folder, SETTINGS_FILE)
  }

  /** Changes whenever the file may have changed. */
  stamp(): string {
    try {
      const stat = lstatSync(this.path, { bigint: true, throwIfNoEntry: false })
      return stat ? [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ') : ''
    } catch (error) {
      return causeOf(error)
    }
  }

  /** Throws `UnusableSettings`. */
  read(): SettingsRead {
    const bytes = this.#bytes()
    if (!bytes) return { bytes: Buffer.alloc(0), saved: {} }
    let raw: unknown
    try {
      raw = JSON.parse(bytes.toString('utf8'))
    } catch (error) {
      // JSON.parse quotes the file, which holds an API key.
      const [where = ''] = /at position \d+/.exec((error as Error).message) ?? []
      throw new UnusableSettings(['it is not valid JSON', where].filter(Boolean).join(' '))
    }
    const parsed = schema.safeParse(raw)
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      throw new UnusableSettings([issue?.path.join('.'), issue?.message].filter(Boolean).join(': '))
    }
    return { bytes, saved: (raw as { settings: SavedSettings }).settings }
  }

  /** Replaces the file atomically. On failure it throws the reason and keeps the old file. */
  write(settings: SavedSettings): void {
    const text = JSON.stringify({ format: FORMAT, settings }, null, 2)
    try {
      makePrivateFolder(this.#folder)
      replacePrivateFile(this.path, `${text}\n`, { isFlushed: true })
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
