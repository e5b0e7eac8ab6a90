import { isAbsolute, join } from 'node:path'
import { NO_CHECK_SETTINGS } from '../checks/settings.ts'
import { tightening } from '../domain/tighten.ts'
import type { Environment } from './clean-environment.ts'
import { configFolder } from './config-folder.ts'
import { trustCommand } from './invocation.ts'
import { checkedPolicy, readSettingsFile, type Settings, type SettingsFile } from './settings-file.ts'
import { TrustList } from './trust-list.ts'
import { visible } from '../domain/visible.ts'

export type { Settings } from './settings-file.ts'

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
export interface Untrusted extends Settings {
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
