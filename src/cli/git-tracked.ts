import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { devNull } from 'node:os'
import { basename, dirname, join, parse, relative, resolve, sep } from 'node:path'
import { hasRepository } from '../checks/repository.ts'
import { cleanEnvironment, type Environment } from './clean-environment.ts'

export type Tracked =
  | { readonly repository: string; readonly files: readonly string[] }
  | { readonly repository: string; readonly unclear: string }

const TIMEOUT_MS = 2_000

/** The files of a folder, or symbolic links to it, that git tracks. The files need not exist. */
export function trackedIn(folder: string, names: readonly string[], environment: Environment): Tracked | undefined {
  const path = resolve(folder)
  for (const link of linksTo(path)) {
    const found = tracked(realOf(dirname(link)), [basename(link)], environment)
    if (found) return found
  }
  return tracked(realOf(path), names, environment)
}

function linksTo(path: string): readonly string[] {
  const above = dirname(path) === path ? [] : linksTo(dirname(path))
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? [...above, path] : above
}

/** Undefined without a repository or tracked files. */
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

/** Checked without git, which saves a process where there is no repository. */
function repositoryOf(folder: string): string | undefined {
  if (hasRepository(folder)) return folder
  return dirname(folder) === folder ? undefined : repositoryOf(dirname(folder))
}

/** The repository may be untrusted: git must accept other owners and run no program that the repository configures. */
const SAFE = [
  '--no-pager',
  ...['core.fsmonitor=false', `core.hooksPath=${devNull}`, 'protocol.allow=never', 'safe.directory=*'].flatMap(
    value => ['-c', value],
  ),
]

const git = (repository: string, args: readonly string[], environment: Environment): string =>
  execFileSync('git', [...SAFE, '-C', repository, ...args], {
    // Not in the repository, which may contain a program named git.
    cwd: parse(repository).root,
    env: { ...cleanEnvironment(environment), LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1' },
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  })

/** Like `realpath`, for a folder that may not exist yet. */
function realOf(path: string): string {
  return existsSync(path) || dirname(path) === path ? realpathSync(path) : join(realOf(dirname(path)), basename(path))
}
