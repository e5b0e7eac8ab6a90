import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { basename, dirname, join, parse, relative, resolve, sep } from 'node:path'
import { hasRepository } from '../../checks/git.ts'
import { visible } from '../../core/text/plain-text.ts'
import { newToken, type Role } from '../../server/http/access.ts'
import { createPrivateFile, makePrivateFolder, readRegularFile, replacePrivateFile } from '../../store/private-file.ts'
import { CliError, causeOf } from '../cli-error.ts'
import { DEFAULT_PORT, MIN_TOKEN_LENGTH } from '../default-paths.ts'
import { cleanEnvironment, type Environment } from '../environment.ts'
import { shellWord } from '../invocation.ts'

const DATABASES = ['runsheet.db', 'server.lock', 'files.lock']
/** Excludes task files, which are meant to be committed and read by other programs. */
const PRIVATE_FILES: readonly string[] = [
  'person-token',
  'agent-token',
  ...DATABASES.flatMap(name => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`]),
  'runsheet.db-head',
  'server.json',
  'serve.log',
  'made-here',
  'port',
  'opencode-secret',
]
/** The .gitignore of a folder that we create: `git add -A` adds only the task files. */
const GIT_RULES = '# Written by Runsheet: tokens and plans are not for others.\n*\n!/.agents/\n!/.agents/**\n'
const MAX_TOKEN_BYTES = 4_096

/** The data folder and its tokens. Created on first use, readable only by its owner. */
export class DataFolder {
  readonly path: string
  /** Print these after everything has opened, so that an error stays a single line. */
  readonly warnings: readonly string[]

  constructor(path: string, environment: Environment) {
    this.path = path
    try {
      const unclear = refuseTracked(path, environment)
      // Only in new folders: elsewhere the rules would hide a project's files from git.
      if (makePrivateFolder(resolve(path))) createPrivateFile(rulesFile(path), GIT_RULES)
      markAsMadeHere(path)
      this.warnings = [...(unclear ? [unclear] : []), ...exposedLines(path)]
    } catch (error) {
      if (error instanceof CliError) throw error
      throw new CliError(`cannot use the data folder ${path}: ${causeOf(error)}. Choose another with --data.`)
    }
  }

  /** Returns the given tokens; reads or creates the others in the folder. */
  tokens(given: Partial<Record<Role, string>>): Record<Role, string> {
    return {
      person: given.person ?? this.#token('person-token'),
      agent: given.agent ?? this.#token('agent-token'),
    }
  }

  personToken(): string | undefined {
    return existsSync(join(this.path, 'person-token')) ? this.#token('person-token') : undefined
  }

  agentToken(): string | undefined {
    return existsSync(join(this.path, 'agent-token')) ? this.#token('agent-token') : undefined
  }

  #token(name: string): string {
    const file = join(this.path, name)
    try {
      // Atomic, because another process may be about to read it.
      if (!existsSync(file)) replacePrivateFile(file, `${newToken()}\n`)
      const token = readRegularFile(file, { maxBytes: MAX_TOKEN_BYTES, follow: false }).toString('utf8').trim()
      if (isExposed(file)) chmodSync(file, 0o600)
      if (token.length >= MIN_TOKEN_LENGTH) return token
    } catch (error) {
      throw new CliError(`cannot use the token file ${file}: ${causeOf(error)}.`)
    }
    throw new CliError(
      `the token in ${file} is shorter than ${MIN_TOKEN_LENGTH} characters. Delete the file to get a new one.`,
    )
  }
}

const rulesFile = (data: string): string => join(data, '.gitignore')

export const hasGitRules = (data: string): boolean => existsSync(rulesFile(data))

/** For commands that must not create the folder. */
export function existingFolder({
  data,
  environment,
}: {
  readonly data: string
  readonly environment: Environment
}): void {
  if (!existsSync(data)) throw new CliError(`the data folder ${data} does not exist. Set it with --data.`)
  refuseTracked(data, environment)
}

/**
 * Refuses a folder that came with a clone or that the next push would share. If git fails, it accepts with a warning a
 * folder that this machine created or that has none of our files yet.
 */
export function refuseTracked(data: string, environment: Environment): string | undefined {
  const tracked = trackedIn(data, PRIVATE_FILES, environment)
  if (!tracked) return undefined
  if ('unclear' in tracked) {
    const problem = `git cannot say whether it tracks files in ${data}: ${tracked.unclear}`
    if (isMadeHere(data) || !PRIVATE_FILES.some(name => existsSync(join(data, name)))) {
      return visible(`Runsheet: ${problem}`)
    }
    throw new CliError(`${problem}. The tokens there may not be yours. Choose another folder with --data.`)
  }
  const { repository, files } = tracked
  const words = files.map(shellWord).join(' ')
  throw new CliError(
    `git tracks ${files.join(', ')}: everybody with this repository has your tokens and plans, or made them. Choose another folder with --data; or, if it is yours: git -C ${shellWord(repository)} rm --cached ${words}, and delete the tokens, which are not secret any more.`,
  )
}

/** Device, inode and creation time: a clone or a copy cannot match them. */
const markOf = (data: string): string => {
  const { dev, ino, birthtimeNs } = statSync(data, { bigint: true })
  return `${dev}-${ino}-${birthtimeNs}\n`
}

const markFile = (data: string): string => join(data, 'made-here')

function isMadeHere(data: string): boolean {
  try {
    return readRegularFile(markFile(data), { maxBytes: 200, follow: false }).toString('utf8') === markOf(data)
  } catch {
    return false
  }
}

function markAsMadeHere(data: string): void {
  if (!isMadeHere(data)) replacePrivateFile(markFile(data), markOf(data))
}

function exposedLines(data: string): readonly string[] {
  if (!isExposed(data)) return []
  const paths = [data, ...PRIVATE_FILES.map(name => join(data, name)).filter(isExposed)]
  const command = `chmod go= ${paths.map(shellWord).join(' ')}`
  return [visible(`Runsheet: other users of this machine may read ${paths.join(', ')}. Run: ${command}`)]
}

/** Windows does not use mode bits. */
function isExposed(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  return process.platform !== 'win32' && (mode & 0o077) !== 0
}

type Tracked =
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

/** The port to try first: the one that setup fixed, or the default. Browsers are signed in to one port only. */
export const usualPort = (data: string): number => fixedPort(data) ?? DEFAULT_PORT

export function fixedPort(data: string): number | undefined {
  try {
    const text = readRegularFile(portFile(data), { maxBytes: 16, follow: false }).toString('utf8').trim()
    const port = Number(text)
    return /^\d+$/.test(text) && port > 0 && port <= 65_535 ? port : undefined
  } catch {
    return undefined
  }
}

export const fixPort = (data: string, port: number): void => replacePrivateFile(portFile(data), `${port}\n`)

const portFile = (data: string): string => join(data, 'port')

/** The key with which OpenCode's plugin signs chats. Setup creates it; without setup, as in a clone, the plugin does. */
const secretFile = (data: string): string => join(data, 'opencode-secret')

/** Keeps an existing one. */
export const createHookSecret = (data: string): void => void createPrivateFile(secretFile(data), `${newToken()}\n`)

/** Undefined if there is no usable one. */
export function hookSecret(data: string): string | undefined {
  try {
    const secret = readRegularFile(secretFile(data), { maxBytes: 1_024, follow: false }).toString('utf8').trim()
    return secret === '' ? undefined : secret
  } catch {
    return undefined
  }
}
