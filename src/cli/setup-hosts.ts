import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startedBy, type Host, type Place, type Scope, type StartedServer } from '../hosts/host.ts'
import type { HostName } from '../hosts/hosts.ts'
import { hostsWith } from '../hosts/index.ts'
import { addition, dataOf, removal, valueAt, type Change, type FileRecord, type Settings } from '../hosts/settings.ts'
import { SettingsError } from '../hosts/json-edit.ts'
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
  return { scope, home, project: cwd, environment, platform: process.platform, read: textOrNone }
}

/** For scanning; the code that edits the file reports why it cannot be read. */
function textOrNone(path: string): string | undefined {
  try {
    return readSettingsText(path)
  } catch (error) {
    if (error instanceof CliError) return ''
    throw error
  }
}

export const dataFolderOf = (data: string | undefined, cwd: string): string =>
  resolve(cwd, expandHome(data ?? DEFAULT_DATA))

/** The file that has the host's entry of our server, and what the entry starts; undefined without one. */
export function serverAt(host: Host, place: Place): { path: string; server: StartedServer | undefined } | undefined {
  const [settings] = host.settings(place, { program: ['runsheet'], data: undefined, features: [] })
  const text = settings && readSettingsText(settings.path)
  if (text === undefined || settings === undefined || settings.format === 'own') return undefined
  const entry = inFile(settings.path, () => valueAt(dataOf(settings, text), host.serverPath))
  return typeof entry === 'object' && entry !== null
    ? { path: settings.path, server: startedBy({ ...entry }) }
    : undefined
}

export const added = (settings: Settings, record?: FileRecord): Change => changed(addition, settings, record)
export const removed = (settings: Settings, record?: FileRecord): Change => changed(removal, settings, record)

const changed = (change: typeof addition, settings: Settings, record?: FileRecord): Change =>
  inFile(settings.path, () => change(settings, readSettingsText(settings.path), record))

/** Adds the file's name to settings errors. */
function inFile<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    throw new CliError(`cannot use ${path}: ${error.message}`)
  }
}
