import { isAbsolute, join } from 'node:path'
import type { HostName } from './hosts.ts'
import type { Settings } from './settings.ts'

export type Scope = 'user' | 'project'

export const FEATURES = ['gate', 'evidence', 'digest'] as const
export type Feature = (typeof FEATURES)[number]

export interface Place {
  readonly scope: Scope
  readonly home: string
  readonly project: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly platform: NodeJS.Platform
  /** Undefined if there is no file. */
  readonly read: (path: string) => string | undefined
}

/** A folder named by an environment variable. Relative paths are ignored: they would depend on the working folder. */
export function folderIn({ environment, home }: Place, name: string): string | undefined {
  const path = environment[name]?.replace(/^~(?=[/\\]|$)/, () => home)
  return path !== undefined && isAbsolute(path) ? path : undefined
}

export const configHome = (place: Place): string => folderIn(place, 'XDG_CONFIG_HOME') ?? join(place.home, '.config')

export interface Installation {
  /** Node and our script, or the name found on the PATH. */
  readonly program: readonly [string, ...string[]]
  /** Undefined: `.runsheet` in the host's working folder. */
  readonly data: string | undefined
  readonly features: readonly Feature[]
}

export interface Host {
  readonly name: HostName
  /** The tested version; undefined if the host is supported by its documentation only. */
  readonly tried?: string
  /** The files to write. The first one has the server. */
  settings(place: Place, installation: Installation): readonly Settings[]
  readonly serverPath: readonly string[]
  notes(place: Place, installation: Installation): readonly string[]
}

/**
 * Arguments of `mcp`. `--hooks` stays with all features off: a hook names the session, and checks run in the host's
 * folder.
 */
export function mcpArguments({ data, features }: Installation, hasHooks: boolean): readonly string[] {
  const hooks = hasHooks ? ['--hooks', ...switches(features)] : []
  return ['mcp', ...(data === undefined ? [] : ['--data', data]), ...hooks]
}

export const switches = (features: readonly Feature[]): readonly string[] =>
  FEATURES.filter(each => !features.includes(each)).map(each => `--no-${each}`)

/** Keys of other transports, which must not stay beside a command. */
export const OTHER_TRANSPORTS = ['url', 'httpUrl', 'serverUrl', 'headers', 'bearer_token_env_var', 'http_headers']

export interface StartedServer {
  readonly words: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  readonly isEnabled: boolean
  /** The setup choices that would write this entry; undefined if the command is not one of setup's. */
  readonly installation: Installation | undefined
}

type Entry = Readonly<Record<string, unknown>>

export function startedBy(entry: Entry): StartedServer | undefined {
  const { command, args, env, environment, enabled, disabled } = entry
  const [first, ...rest] = [...texts(command), ...texts(args)]
  if (first === undefined) return undefined
  const words = [first, ...rest] as const
  return {
    words,
    env: Object.fromEntries(
      Object.entries({ ...((env ?? environment) as object) }).map(([key, value]) => [key, String(value)]),
    ),
    isEnabled: enabled !== false && disabled !== true,
    installation: installationOf(words),
  }
}

function installationOf(words: readonly string[]): Installation | undefined {
  const at = words.indexOf('mcp')
  const [first, ...script] = words.slice(0, at)
  if (at < 1 || first === undefined) return undefined
  const options = words.slice(at + 1)
  const data = options.includes('--data') ? options[options.indexOf('--data') + 1] : undefined
  const features = options.includes('--hooks') ? FEATURES.filter(each => !options.includes(`--no-${each}`)) : []
  return { program: [first, ...script], data, features }
}

const texts = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.map(String) : []
