import { isAbsolute, join } from 'node:path'
import type { HostName } from './hosts.ts'
import type { Settings, SettingsFile } from './settings.ts'

export type Scope = 'user' | 'project'

export const FEATURES = ['gate', 'evidence', 'digest'] as const
export type Feature = (typeof FEATURES)[number]

export interface Place {
  readonly scope: Scope
  readonly home: string
  readonly project: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly platform: NodeJS.Platform
  readonly exists: (path: string) => boolean
  readonly read: (path: string) => string | undefined
  readonly real: (path: string) => string
}

/** Hosts read the settings of both scopes. */
export const bothScopes = (place: Place): readonly Place[] =>
  (['user', 'project'] as const).map(scope => ({ ...place, scope }))

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

export interface PlacedHook {
  readonly path: string
  readonly event: string
  readonly group: number
  readonly handler: number
  readonly value: unknown
  readonly matcher: string | undefined
}

export interface OffSwitch {
  readonly path: readonly string[]
  readonly isOff: (value: unknown) => boolean
  readonly stops: 'hooks' | 'tools'
}

interface Distrust {
  readonly isDecided: boolean
  readonly text: string
  readonly todo: string
}

export interface Host {
  readonly name: HostName
  readonly command: string
  /** The tested version; undefined if the host is supported by its documentation only. */
  readonly tried?: string
  /** The files to write. The first one has the server. */
  settings(place: Place, installation: Installation): readonly Settings[]
  readonly serverPath: readonly string[]
  /** For hosts that ask a person to accept hooks: the file that records it, and how to read it. */
  readonly acceptance?: {
    readonly settings: (place: Place) => SettingsFile
    readonly has: (data: unknown, hook: PlacedHook) => boolean
    readonly todo: string
  }
  /** The effect of a missing program on the host itself, if it is worse than running without Runsheet. */
  readonly withoutProgram?: string
  readonly off?: {
    readonly files: (place: Place) => readonly SettingsFile[]
    readonly switches: readonly OffSwitch[]
  }
  /** Why the host uses neither our tools nor our hooks in an untrusted folder; undefined if it uses them. */
  distrust?(place: Place): Distrust | undefined
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
