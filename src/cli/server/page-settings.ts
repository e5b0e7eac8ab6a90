import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { type PolicyPatch, policyProblem } from '../../core/model/policy.ts'
import type { LearningRedactor } from '../../core/text/redact.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { secretsInUrl } from '../../core/text/secrets.ts'
import {
  assessorOf,
  changedSettings,
  connectionOf,
  type FixedSettings,
  isBaseUrl,
  modelOf,
  policyOf,
  type SavedSettings,
  type SettingsSources,
} from '../../core/model/settings.ts'
import { type RuleChange, type SavedRules, TOOL_RULES, withRules } from '../../core/model/tool-approval.ts'
import type { SettingsChange } from '../../core/views/wire.ts'
import { HttpError } from '../../server/http/replies.ts'
import type { ModelChoice } from '../../models/live-models.ts'
import { PROVIDER_KEYS } from '../../models/provider-keys.ts'
import { makePrivateFolder, readRegularFile, replacePrivateFile } from '../../store/private-file.ts'
import { causeOf, CliError } from '../cli-error.ts'
import type { Environment } from '../environment.ts'

interface LiveSettingsOptions {
  /** The user's configuration folder. */
  readonly folder: string
  readonly fixed: FixedSettings
  readonly file: PolicyPatch
  readonly environment: Environment
  /** Learns each API key as soon as it is read. */
  readonly redact: LearningRedactor
}

interface Current {
  readonly version: string
  readonly sources: SettingsSources
  readonly policy: PolicyPatch
  readonly choice: ModelChoice
}

/** The current settings of this process, merged from options, variables, the page and the settings files. */
export class LiveSettings {
  readonly #disk: SettingsOnDisk
  readonly #options: LiveSettingsOptions
  readonly #listeners = new Set<() => void>()
  #stamp: string
  #current: Current
  #problem: string | undefined

  /** Throws on an unusable file: its settings may be stricter than the others. */
  constructor(options: LiveSettingsOptions) {
    const { fixed, file } = options
    const problem = policyProblem(policyOf({ fixed, saved: {}, file, variables: {} }))
    if (problem) throw new CliError(problem.message)
    this.#options = options
    this.#disk = new SettingsOnDisk(options.folder)
    this.#stamp = stampOf(this.#disk.path)
    try {
      this.#current = this.#load()
    } catch (error) {
      if (!(error instanceof UnusableSettings)) throw error
      throw new CliError(`cannot use ${this.#disk.path}: ${error.message}. ${WAY_OUT}`)
    }
  }

  get version(): string {
    return this.#fresh().version
  }

  get sources(): SettingsSources {
    return this.#fresh().sources
  }

  get policy(): PolicyPatch {
    return this.#fresh().policy
  }

  get choice(): ModelChoice {
    return this.#fresh().choice
  }

  get rules(): SavedRules {
    return this.sources.saved.tools ?? {}
  }

  /** Why the file is currently not used. */
  get problem(): string | undefined {
    this.#fresh()
    return this.#problem
  }

  /** Called after each effective change. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Optimistic: fails unless the settings are still at `version`. Flushed to disk before it returns. */
  change(version: string, change: SettingsChange): void {
    // First, so that no error message can leak the key.
    if (change.key !== undefined) this.#options.redact.learn({ known: [change.key] })
    this.#checkUsable()
    const { version: now, sources } = this.#fresh()
    if (version !== now) {
      throw new HttpError(
        412,
        'settings_changed',
        'The settings have changed since. Read them again, then change them.',
      )
    }
    const saved = changedSettings(sources, change)
    if (saved instanceof Refusal) throw saved
    if (JSON.stringify(saved) !== JSON.stringify(sources.saved)) this.#save(saved)
  }

  /** Flushed to disk before it returns. */
  changeRules(changes: readonly RuleChange[]): void {
    this.#checkUsable()
    const { sources } = this.#fresh()
    const { tools: before = {}, ...others } = sources.saved
    const tools = withRules(before, changes)
    this.#save(Object.keys(tools).length > 0 ? { ...others, tools } : others)
  }

  /** An unusable file is not overwritten. */
  #checkUsable(): void {
    if (this.problem !== undefined)
      throw new HttpError(409, 'settings_unreadable', this.problem, { file: SETTINGS_FILE })
  }

  #save(saved: SavedSettings): void {
    try {
      this.#disk.write(saved)
    } catch (error) {
      if (!(error instanceof UnusableSettings)) throw error
      throw new HttpError(503, 'settings_not_saved', `The settings could not be saved: ${error.message}.`)
    }
    this.#fresh()
  }

  /** Compares the file's stat, which takes microseconds and, unlike a watcher, misses no change. */
  #fresh(): Current {
    const stamp = stampOf(this.#disk.path)
    if (stamp === this.#stamp) return this.#current
    this.#stamp = stamp
    const { version } = this.#current
    try {
      this.#current = this.#load()
      this.#problem = undefined
    } catch (error) {
      if (!(error instanceof UnusableSettings)) throw error
      this.#problem = `${SETTINGS_FILE} in your configuration folder cannot be used: ${error.message}. The settings before it count. ${WAY_OUT}`
    }
    if (this.#current.version !== version) for (const listener of this.#listeners) listener()
    return this.#current
  }

  #load(): Current {
    const { fixed, file, environment, redact } = this.#options
    const { bytes, saved } = this.#disk.read()
    const { known, suspected } = secretsInUrl(saved.base_url ?? '')
    redact.learn({ known: [...known, ...(saved.key ? [saved.key.value] : [])], suspected })
    const variables = Object.fromEntries(Object.entries(PROVIDER_KEYS).filter(([, name]) => environment[name]))
    const sources = { fixed, saved, file, variables }
    const policy = policyOf(sources)
    const problem = policyProblem(policy)
    if (problem) throw new UnusableSettings(problem.message.replace(/\.$/, ''))
    const choice = {
      model: modelOf(sources),
      assessor: assessorOf(sources),
      connectionOf: (name: string) => connectionOf(sources, name),
    }
    return { version: versionOf(bytes), sources, policy, choice }
  }
}

const WAY_OUT = 'Delete it, and set the settings again on the page.'

/** Salted per process, so that the version says nothing about the key. */
const SALT = randomBytes(16)
const versionOf = (bytes: Buffer): string =>
  createHash('sha256').update(SALT).update(bytes).digest('base64url').slice(0, 22)

/** The page's settings in the user's configuration folder. Holds the API key. */
const SETTINGS_FILE = 'settings.json'

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
class UnusableSettings extends Error {
  override readonly name = 'UnusableSettings'
}

interface SettingsRead {
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

/** Changes whenever the file, or what a link leads to, may have changed. */
export function stampOf(file: string): string {
  try {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
    return stat ? [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ') : ''
  } catch (error) {
    return causeOf(error)
  }
}
