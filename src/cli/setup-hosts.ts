import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HostName } from '../hosts/hosts.ts'
import { newToken } from '../server/http/access.ts'
import type { Host, Place, Scope } from '../hosts/host.ts'
import { hostsWith } from '../hosts/index.ts'
import { startedBy } from '../hosts/server-entry.ts'
import { SettingsError } from '../hosts/settings-error.ts'
import { dataOf, ownHooks, type Settings, valueAt } from '../hosts/settings.ts'
import { createPrivateFile, readRegularFile } from '../store/private-file.ts'
import { CliError } from './cli-error.ts'
import { DEFAULT_DATA, expandHome } from './default-paths.ts'
import type { Environment } from './environment.ts'
import { readSettingsText } from './setup-files.ts'

/** The same relative path from `src/cli` and from `dist/cli`. */
const PLUGIN = fileURLToPath(new URL('../hosts/opencode-plugin.js', import.meta.url))

export const allHosts = (): Readonly<Record<HostName, Host>> => hostsWith(readFileSync(PLUGIN, 'utf8'))

export function placeOf(scope: Scope, cwd: string, environment: Environment): Place {
  const home = homedir()
  if (!isAbsolute(home)) throw new CliError('cannot find your home folder. Set HOME to its absolute path.')
  const { platform } = process
  return { scope, home, project: cwd, environment, platform, exists: existsSync, read: textOrNone, real: realOrSame }
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** For scanning; the code that edits the file reports why it cannot be read. */
function textOrNone(path: string): string | undefined {
  try {
    return readSettingsText(path)
  } catch (error) {
    if (error instanceof CliError) return undefined
    throw error
  }
}

export const dataFolderOf = (data: string | undefined, cwd: string): string =>
  resolve(cwd, expandHome(data ?? DEFAULT_DATA))

/** The user's own plans, independent of the host's folder. */
export const userData = (home: string): string => join(home, DEFAULT_DATA)

export function serverEntry(host: Host, settings: Settings | undefined): Readonly<Record<string, unknown>> | undefined {
  if (settings === undefined || settings.format === 'own') return undefined
  const text = readSettingsText(settings.path)
  if (text === undefined) return undefined
  const entry = inFile(settings.path, () => valueAt(dataOf(settings, text), host.serverPath))
  return typeof entry === 'object' && entry !== null ? { ...entry } : undefined
}

export function hasHooks(settings: Settings): boolean {
  const text = readSettingsText(settings.path)
  if (text === undefined) return false
  if (settings.format === 'own') return text.startsWith(settings.mark)
  return inFile(settings.path, () => Object.keys(ownHooks(dataOf(settings, text))).length > 0)
}

/** Adds the file's name to settings errors. */
export function inFile<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    throw new CliError(`cannot use ${path}: ${error.message}`)
  }
}

// The key with which OpenCode's plugin signs chats. `runsheet setup` creates it; without setup, as in a clone, the
// plugin does.

const MAX_BYTES = 1_024

export const secretFile = (data: string): string => join(data, 'opencode-secret')

/** Undefined if there is no usable one. */
export function readSecret(data: string): string | undefined {
  try {
    const secret = readRegularFile(secretFile(data), { maxBytes: MAX_BYTES, follow: false }).toString('utf8').trim()
    return secret === '' ? undefined : secret
  } catch {
    return undefined
  }
}

/** Keeps an existing one. */
export const createSecret = (data: string): void => void createPrivateFile(secretFile(data), `${newToken()}\n`)

/** Removes the secret after setup was removed here, unless the other scope uses the same data folder. */
export function removeUnusedSecret(opencode: Host, place: Place, data: string): void {
  const other: Place = { ...place, scope: place.scope === 'user' ? 'project' : 'user' }
  if (dataFolderIn(opencode, other) !== data) rmSync(secretFile(data), { force: true })
}

function dataFolderIn(host: Host, place: Place): string | undefined {
  const [settings] = host.settings(place, { program: ['runsheet'], data: undefined, features: [] })
  try {
    const entry = serverEntry(host, settings)
    const installation = entry && startedBy(entry)?.installation
    return installation && dataFolderOf(installation.data, place.project)
  } catch (error) {
    // This scope's file is not the one being edited: ignore its errors.
    if (error instanceof CliError) return undefined
    throw error
  }
}
