import { randomUUID } from 'node:crypto'
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { homedir, hostname } from 'node:os'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Workspace } from '../core/proof/check.ts'
import { Obstacle, becauseOf } from './obstacle.ts'
import type { Environment } from './program.ts'

export function openWorkspace(folder: string, machine: string): Workspace | Obstacle {
  try {
    const path = realpathSync(folder)
    return statSync(path).isDirectory() ? { machine, path } : new Obstacle(`${folder} is not a folder.`)
  } catch (error) {
    return new Obstacle(`The folder ${folder} cannot be used as a workspace: ${becauseOf(error)}.`)
  }
}

/**
 * Names this machine and user: a random id in the user's configuration folder, plus the host name, since several hosts
 * may share that folder. Throws if the id can be neither read nor written.
 */
export function machineId(configFolder: string, host: string = hostname()): string {
  const file = join(configFolder, 'machine-id')
  const id = idIn(file) ?? createId(file)
  return `${host.replaceAll(/[^A-Za-z0-9.-]/g, '-').slice(0, 64)}-${id}`
}

export const fileIn = ({ path: root }: Workspace, file: string): string | Obstacle =>
  pathIn(root, file, stats => (stats.isFile() ? undefined : 'is not a regular file'))

export const folderIn = ({ path: root }: Workspace, folder: string): string | Obstacle =>
  pathIn(root, folder, stats => (stats.isDirectory() ? undefined : 'is not a folder'))

export function isTaken(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false
    throw error
  }
}

export const isFile = (path: string): boolean => statsOf(path)?.isFile() ?? false

export const isFolder = (path: string): boolean => statsOf(path)?.isDirectory() ?? false

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // A file where a folder is expected, a name that is too long, or circular links.
    return undefined
  }
}

/** Relative path from a folder, with `/`; '' for the folder itself, undefined for paths outside. */
export function pathFrom(folder: string, path: string): string | undefined {
  const way = relative(folder, path)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return undefined
  return way.split(sep).join('/')
}

export function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const WAY_OUT =
  ' Put it back, then try again; or leave it to a person, who can remove the checks of the plan or settle the task, or write one check again in a Runsheet that runs in the new folder.'

function pathIn(root: string, path: string, problemWith: (stats: Stats) => string | undefined): string | Obstacle {
  if (isAbsolute(path) || path.split(/[\\/]/).includes('..'))
    return new Obstacle(`${path} is not inside the workspace.`)
  try {
    const real = realpathSync(resolve(root, path))
    const isInside = pathFrom(root, real) !== undefined
    const problem = isInside ? problemWith(statSync(real)) : 'leads out of the workspace'
    return problem === undefined ? real : new Obstacle(`${path} ${problem}.`)
  } catch (error) {
    const what = path === '.' ? `The folder of the workspace (${root})` : path
    return new Obstacle(`${what} cannot be found: ${becauseOf(error)}.${path === '.' ? WAY_OUT : ''}`)
  }
}

function idIn(file: string): string | undefined {
  try {
    return ID.exec(readFileSync(file, 'utf8'))?.[0]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const ID = /^[0-9a-f]{12}(?=\n$)/

/** Written completely before it gets its name, so that concurrent processes all read the first id. */
function createId(file: string): string {
  const temporary = `${file}.${randomUUID()}`
  mkdirSync(resolve(file, '..'), { recursive: true, mode: 0o700 })
  writeFileSync(temporary, `${randomUUID().slice(-12)}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(temporary, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(temporary)
  }
  const id = idIn(file)
  if (id === undefined) throw new Error(`${file} does not hold an id. Delete it: a new one is made.`)
  return id
}

/** The user's own configuration folder, independent of the working folder. */
export function findConfigFolder(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): string | Obstacle {
  const [variable, fallback] =
    platform === 'win32' ? ['APPDATA', join('AppData', 'Roaming')] : ['XDG_CONFIG_HOME', '.config']
  const set = environment[variable]
  // A relative path would lead into the working folder, which may be untrusted; the XDG specification ignores it, too.
  if (set && isAbsolute(set)) return join(set, 'runsheet')
  const home = homeFolder()
  // HOME may be empty or relative, which would also lead into the working folder.
  if (home === undefined || !isAbsolute(home)) {
    return new Obstacle('cannot find your home folder. Set HOME to its absolute path.')
  }
  return join(home, fallback, 'runsheet')
}

/** Undefined for a user without a system account entry, as in some containers. */
function homeFolder(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
