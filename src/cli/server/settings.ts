import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import * as z from 'zod'
import { findConfigFolder } from '../../checks/workspace.ts'
import { Obstacle } from '../../checks/obstacle.ts'
import { NO_CHECK_SETTINGS, problemIn, type CheckSettings } from '../../checks/settings.ts'
import { MAX_CHECKS } from '../../core/proof/check.ts'
import { policyProblem, tightening, type PolicyPatch } from '../../core/model/policy.ts'
import { ASK_FOR } from '../../core/model/tool-approval.ts'
import { visible } from '../../core/text/plain-text.ts'
import type { McpServer } from '../../engine/turn/mcp-tools.ts'
import { makePrivateFolder, readRegularFile, replacePrivateFile } from '../../store/private-file.ts'
import type { WebhookText } from '../../webhook/settings.ts'
import { CliError, causeOf } from '../cli-error.ts'
import type { Environment } from '../environment.ts'
import { trustCommand } from '../invocation.ts'

export interface ConfigChoice {
  readonly file: string
  readonly by: 'cli' | 'env' | 'default'
}

export interface SettingsOptions {
  readonly config: ConfigChoice
  readonly environment: Environment
  readonly invocation: string
}

/** The part of a project's settings that applies without trust, and the names of the ignored ones. */
interface Untrusted extends Settings {
  readonly ignored: readonly string[]
}

export const NONE: Settings = { policy: {}, mcpServers: {}, checks: NO_CHECK_SETTINGS }

/**
 * The effective settings: the user's own, overridden by the chosen file. The file counts in full if the user named it
 * or trusts its content; otherwise only stricter values count, and `print` reports the rest.
 */
export function readSettings(options: SettingsOptions, print: (line: string) => void): Settings {
  const folder = configFolder(options.environment)
  const own = ownSettings(folder)
  const chosen = readSettingsFile(options.config.file)
  if (!chosen || chosen.path === own?.path) return own ?? NONE
  const base = own ?? NONE
  const { ignored, ...stricter } = withoutTrust(chosen, base)
  if (isNamed(options.config) || new TrustList(folder).has(chosen)) return merged(base, chosen)
  const lowered = Object.entries(stricter.policy).filter(([, value]) => typeof value === 'number')
  if (lowered.length > 0) print(loweredLine(chosen, lowered))
  if (ignored.length === 0) return merged(base, chosen)
  print(ignoredLine(chosen, ignored, options.invocation))
  return merged(base, { ...chosen, ...stricter })
}

export const ownSettings = (folder: string): SettingsFile | undefined => readSettingsFile(join(folder, 'runsheet.json'))

export function withoutTrust({ policy, mcpServers, checks, webhook }: Settings, base: Settings): Untrusted {
  const { policy: stricter, ignored } = tightening(policy, base.policy)
  const servers = Object.keys(mcpServers).map(name => `mcpServers.${name}`)
  // More protected files are stricter; all other check settings decide what runs.
  const running = (['allow', 'wrap', 'env', 'done', 'held_out'] as const).filter(
    field => Object.keys(checks[field] ?? {}).length > 0,
  )
  return {
    policy: stricter,
    mcpServers: {},
    checks: { ...NO_CHECK_SETTINGS, protect: checks.protect },
    webhook: undefined,
    ignored: [
      ...ignored.map(field => `policy.${field}`),
      ...servers,
      ...running.map(field => `checks.${field}`),
      ...(webhook ? ['webhook'] : []),
    ],
  }
}

/** A variable outlives the folder it was set for: a relative path would match a file in any folder. */
const isNamed = ({ by, file }: ConfigChoice): boolean => by === 'cli' || (by === 'env' && isAbsolute(file))

const merged = (base: Settings, { path, policy, mcpServers, checks, webhook }: SettingsFile): Settings => ({
  policy: checkedPolicy(path, { ...base.policy, ...policy }),
  mcpServers: { ...base.mcpServers, ...mcpServers },
  checks: {
    allow: [...base.checks.allow, ...checks.allow],
    protect: [...base.checks.protect, ...checks.protect],
    wrap: checks.wrap.length > 0 ? checks.wrap : base.checks.wrap,
    env: { ...base.checks.env, ...checks.env },
    done: [...base.checks.done, ...checks.done],
    held_out: checks.held_out ?? base.checks.held_out,
  },
  webhook: webhook ?? base.webhook,
})

/** Low limits can block plans altogether, so tell the person why. */
const loweredLine = ({ path }: SettingsFile, limits: readonly (readonly [string, unknown])[]): string =>
  visible(`Runsheet: ${path} sets ${limits.map(([field, value]) => `${field} to ${String(value)}`).join(', ')}.`)

const MAX_NAMED = 6

function ignoredLine({ path }: SettingsFile, ignored: readonly string[], invocation: string): string {
  const more = ignored.length > MAX_NAMED ? ` and ${ignored.length - MAX_NAMED} more` : ''
  const named = ignored.slice(0, MAX_NAMED).join(', ')
  const command = trustCommand(invocation, path)
  return visible(
    `Runsheet: ignored ${named}${more} in ${path}: a project's settings may only be stricter than yours. To trust the file: ${command}`,
  )
}

export interface Settings {
  readonly policy: PolicyPatch
  readonly mcpServers: Readonly<Record<string, McpServer>>
  readonly checks: CheckSettings
  readonly webhook?: WebhookText | undefined
}

/** Read once, so that the hashed bytes are the parsed bytes. */
export interface SettingsFile extends Settings {
  /**
   * The name in its folder's real path, not the link's target: a link elsewhere is another file, in another working
   * folder.
   */
  readonly path: string
  readonly sha256: string
}

const MAX_BYTES = 1_000_000

const argv = z.array(z.string()).min(1)

const schema = z.strictObject({
  checks: z
    .strictObject({
      allow: z.array(argv),
      protect: z.array(z.string()),
      wrap: z.array(z.string()),
      env: z.record(z.string(), z.string()),
      done: z.array(argv).max(MAX_CHECKS),
      held_out: z.string(),
    })
    .partial()
    .optional(),
  policy: z.record(z.string(), z.unknown()).optional(),
  webhook: z
    .strictObject({ url: z.string(), secret: z.string().optional(), hosts: z.array(z.string()).optional() })
    .optional(),
  mcpServers: z
    .record(
      z.string().regex(/^[A-Za-z0-9_-]{1,32}$/),
      z.union([
        z.object({
          command: z.string(),
          args: z.array(z.string()).optional(),
          env: z.record(z.string(), z.string()).optional(),
          ask: z.enum(ASK_FOR).optional(),
        }),
        z.object({
          url: z.url(),
          headers: z.record(z.string(), z.string()).optional(),
          ask: z.enum(ASK_FOR).optional(),
        }),
      ]),
    )
    .optional(),
})

export function readSettingsFile(path: string): SettingsFile | undefined {
  const bytes = bytesOf(path)
  if (!bytes) return undefined
  return {
    ...settingsIn(bytes, path),
    path: placeOf(path),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }
}

export const placeOf = (path: string): string => join(realpathSync(dirname(resolve(path))), basename(path))

function bytesOf(path: string): Buffer | undefined {
  try {
    return readRegularFile(path, { maxBytes: MAX_BYTES, follow: true })
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw new CliError(`cannot read ${path}: ${causeOf(error)}.`)
  }
}

function settingsIn(bytes: Buffer, path: string): Settings {
  let raw: unknown
  try {
    raw = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    // JSON.parse quotes the file, which may be a link to something private.
    const [where = ''] = /at position .*/.exec((error as Error).message) ?? []
    throw new CliError(`${[path, 'is not valid JSON', where].filter(Boolean).join(' ')}.`)
  }
  const parsed = schema.safeParse(raw)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new CliError(`${path}: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ')}.`)
  }
  const { policy = {}, mcpServers = {}, checks = {}, webhook } = parsed.data
  return {
    policy: checkedPolicy(path, policy),
    mcpServers: mcpServers as Settings['mcpServers'],
    checks: checkedChecks(path, { ...NO_CHECK_SETTINGS, ...(checks as Partial<CheckSettings>) }),
    ...(webhook ? { webhook } : {}),
  }
}

/** Reports a mistake at startup instead of at the first check. */
function checkedChecks(path: string, checks: CheckSettings): CheckSettings {
  const problem = problemIn(checks)
  if (problem !== undefined) throw new CliError(`${path}: ${problem}`)
  return checks
}

/** Reports a mistake at startup instead of at the first conversation. */
function checkedPolicy(path: string, policy: PolicyPatch): PolicyPatch {
  const problem = policyProblem(policy)
  if (problem) throw new CliError(`${path}: ${problem.message}`)
  return policy
}

/** Trust applies to this content at this path. */
export interface TrustedFile {
  readonly path: string
  readonly sha256: string
  /** ISO 8601. */
  readonly at: string
}

const MAX_LIST_BYTES = 10_000_000

const listSchema = z.object({ files: z.array(z.object({ path: z.string(), sha256: z.string(), at: z.string() })) })

/** Stored in `trusted.json` in the user's configuration folder. */
export class TrustList {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  all(): readonly TrustedFile[] {
    let text: string
    try {
      text = readRegularFile(this.#file, { maxBytes: MAX_LIST_BYTES, follow: true }).toString('utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw new CliError(`cannot read ${this.#file}: ${causeOf(error)}.`)
    }
    try {
      return listSchema.parse(JSON.parse(text)).files
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

export function configFolder(environment: Environment, platform?: NodeJS.Platform): string {
  const found = findConfigFolder(environment, platform)
  if (found instanceof Obstacle) throw new CliError(found.reason)
  return found
}
