import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { devNull } from 'node:os'
import { basename, dirname, join, parse, relative, resolve, sep } from 'node:path'
import { hasRepository } from '../checks/repository.ts'
import { cleanEnvironment, type Environment } from './clean-environment.ts'

/** What git tracks, as paths in its repository; or why it could not say. */
export type Tracked =
  | { readonly repository: string; readonly files: readonly string[] }
  | { readonly repository: string; readonly unclear: string }

const TIMEOUT_MS = 2_000

/** Which of a folder's files git tracks, or of the symbolic links that lead to it. None of the files need exist. */
export function trackedIn(folder: string, names: readonly string[], environment: Environment): Tracked | undefined {
  const path = resolve(folder)
  for (const link of linksTo(path)) {
    const found = tracked(realOf(dirname(link)), [basename(link)], environment)
    if (found) return found
  }
  return tracked(realOf(path), names, environment)
}

/** The path and the folders above it that are links. */
function linksTo(path: string): readonly string[] {
  const above = dirname(path) === path ? [] : linksTo(dirname(path))
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? [...above, path] : above
}

/** Undefined without a repository, or if it tracks none of them. */
function tracked(folder: string, names: readonly string[], environment: Environment): Tracked | undefined {
  const repository = repositoryOf(folder)
  if (repository === undefined) return undefined
  const inside = relative(repository, folder)
  const paths = names.map(name => join(inside, name).split(sep).join('/'))
  try {
    // File systems may ignore case.
    const specs = paths.map(path => `:(icase,literal)${path}`)
    const listed = git(repository, ['ls-files', '-z', '--', ...specs], environment)
    const files = listed.split('\0').filter(path => path !== '')
    return files.length > 0 ? { repository, files } : undefined
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { stderr?: string }
    if (code === 'ENOENT') return { repository, unclear: 'it is not installed' }
    return { repository, unclear: code === 'ETIMEDOUT' ? 'it does not answer' : stderr?.split('\n')[0] || message }
  }
}

/** The nearest folder with a repository: without one, no process has to be started. */
function repositoryOf(folder: string): string | undefined {
  if (hasRepository(folder)) return folder
  return dirname(folder) === folder ? undefined : repositoryOf(dirname(folder))
}

/** A repository may be a stranger's or another user's: git answers, and nothing in its configuration may start a program. */
const SAFE = [
  '--no-pager',
  ...['core.fsmonitor=false', `core.hooksPath=${devNull}`, 'protocol.allow=never', 'safe.directory=*'].flatMap(
    value => ['-c', value],
  ),
]

const git = (repository: string, args: readonly string[], environment: Environment): string =>
  execFileSync('git', [...SAFE, '-C', repository, ...args], {
    // Not in the repository, which may hold a program of this name.
    cwd: parse(repository).root,
    env: { ...cleanEnvironment(environment), LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1' },
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  })

/** The real path of a folder that need not exist yet. */
function realOf(path: string): string {
  return existsSync(path) || dirname(path) === path ? realpathSync(path) : join(realOf(dirname(path)), basename(path))
}
