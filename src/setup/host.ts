import { isAbsolute, join } from 'node:path'
import type { Settings, SettingsFile } from './settings.ts'

export const HOST_NAMES = ['claude-code', 'codex', 'gemini', 'opencode', 'qwen', 'cursor', 'vscode', 'zed'] as const
export type HostName = (typeof HOST_NAMES)[number]

export type Scope = 'user' | 'project'

/** What hooks are for; each can be switched off. */
export const FEATURES = ['gate', 'evidence', 'digest'] as const
export type Feature = (typeof FEATURES)[number]

/** Where settings are looked for. */
export interface Place {
  readonly scope: Scope
  /** Absolute. */
  readonly home: string
  /** Absolute; the folder of project scope. */
  readonly project: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly platform: NodeJS.Platform
  readonly exists: (path: string) => boolean
  /** The text of a file; undefined if there is none to read. */
  readonly read: (path: string) => string | undefined
  /** Where a path leads; itself if there is nothing. */
  readonly real: (path: string) => string
}

/** Hosts read the settings of both. */
export const bothScopes = (place: Place): readonly Place[] =>
  (['user', 'project'] as const).map(scope => ({ ...place, scope }))

/** A folder that an environment variable names; a relative one would lead into whatever folder we are in. */
export function folderIn({ environment, home }: Place, name: string): string | undefined {
  const path = environment[name]?.replace(/^~(?=[/\\]|$)/, () => home)
  return path !== undefined && isAbsolute(path) ? path : undefined
}

/** Where programs of this user keep settings. */
export const configHome = (place: Place): string => folderIn(place, 'XDG_CONFIG_HOME') ?? join(place.home, '.config')

/** What a host is to start. */
export interface Installation {
  /** Node and our script, or what is found on the PATH. */
  readonly program: readonly [string, ...string[]]
  /** Undefined: `.runsheet` in the folder where the host works. */
  readonly data: string | undefined
  readonly features: readonly Feature[]
}

/** A handler by its place in a settings file. */
export interface PlacedHook {
  readonly path: string
  readonly event: string
  readonly group: number
  readonly handler: number
  /** The handler itself, and what its group is for. */
  readonly value: unknown
  readonly matcher: string | undefined
}

/** A setting of a host that keeps it from running our hooks or from using our tools. */
export interface OffSwitch {
  readonly path: readonly string[]
  readonly isOff: (value: unknown) => boolean
  readonly stops: 'hooks' | 'tools'
}

/** What a host does not do in a folder that a person has not, or not yet, told it to trust. */
export interface Distrust {
  readonly isDecided: boolean
  readonly text: string
  readonly todo: string
}

export interface Host {
  readonly name: HostName
  readonly label: string
  /** Its program on the PATH. */
  readonly command: string
  /** The version that was tried; undefined if only its documentation was read. */
  readonly tried?: string
  /** The name that its MCP client gives, if it calls the hidden tool `hook`. */
  readonly hookClient?: string
  /** The files to write, with what goes into them. The first one has the server. */
  settings(place: Place, installation: Installation): readonly Settings[]
  /** How its file names the server: the path there. */
  readonly serverPath: readonly string[]
  /** Where a person accepts hooks, if the host asks for that: the file that says so, and whether it does. */
  readonly acceptance?: {
    readonly settings: (place: Place) => SettingsFile
    readonly has: (data: unknown, hook: PlacedHook) => boolean
    readonly todo: string
  }
  /** What becomes of the host while the program of a user's entry is missing, if that is more than being without us. */
  readonly withoutProgram?: string
  /** Where a person may have switched us off. */
  readonly off?: {
    readonly files: (place: Place) => readonly SettingsFile[]
    readonly switches: readonly OffSwitch[]
  }
  /** Why the host uses neither our tools nor our hooks in a folder; undefined if it does. Where hosts ask to trust it. */
  distrust?(place: Place): Distrust | undefined
  /** What a person has to know or do after setup. */
  notes(place: Place, installation: Installation): readonly string[]
}

/** Arguments of `mcp`. Also with all features off: a hook tells the session, and checks run in the host's folder. */
export function mcpArguments({ data, features }: Installation, hasHooks: boolean): readonly string[] {
  const hooks = hasHooks ? ['--hooks', ...switches(features)] : []
  return ['mcp', ...(data === undefined ? [] : ['--data', data]), ...hooks]
}

/** Options that switch the other features off. */
export const switches = (features: readonly Feature[]): readonly string[] =>
  FEATURES.filter(each => !features.includes(each)).map(each => `--no-${each}`)

/** What a server's entry may have from another transport, which must not stay beside a command. */
export const OTHER_TRANSPORTS = ['url', 'httpUrl', 'serverUrl', 'headers', 'bearer_token_env_var', 'http_headers']
