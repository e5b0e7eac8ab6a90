import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { globsOf } from './files.ts'
import { pathFrom } from './workspace.ts'

export interface Git {
  readonly program: string
  readonly path: string
}

const TIMEOUT_MS = 10_000
/** Enough for 20,000 names of 400 bytes, with their prefixes. */
const MAX_LISTED_BYTES = 10_000_000

/** Whether a folder belongs to a repository and is not ignored by it: git lists nothing in an ignored one. */
export const isInRepository = (root: string, git: Git): boolean =>
  hasRepository(root) || (hasRepository(topOf(root)) && !isIgnored(root, git))

/** All files that git tracks or would track. Undefined if git fails, or if files are hidden in nested repositories. */
export function gitFiles(root: string, git: Git): readonly string[] | undefined {
  // Lists tracked files with their modes, and untracked ones, in one process.
  const entries = namesOf(run(root, git, ['ls-files', '-z', '-t', '-s', '-o', '--exclude-standard']))
  return entries?.map(entry => nameIn(root, entry)).filter(name => name !== '')
}

/**
 * Of these paths, those that a `.gitignore` ignores, each mapped to that file. Leaves out tracked files and files
 * ignored by other rules. Empty if git fails.
 */
export function ignoredBy(root: string, git: Git, paths: readonly string[]): ReadonlyMap<string, string> {
  const args = ['-c', `core.excludesFile=${devNull}`, 'check-ignore', '-v', '-z', '--stdin']
  const { status, error, stdout } = run(root, git, args, paths.map(path => `${path}\0`).join(''))
  const fields = status === 0 && !error ? stdout.toString().split('\0') : []
  const ignored = new Map<string, string>()
  const top = topOf(root)
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [source = '', , pattern = '', path = ''] = fields.slice(at, at + 4)
    const rules = resolve(top, source)
    if (basename(source) === RULES && !pattern.startsWith('!')) ignored.set(path, pathFrom(root, rules) ?? rules)
  }
  return ignored
}

export const RULES = '.gitignore'

/** The repository's root, to which git's rule paths are relative; else the topmost folder. */
function topOf(folder: string): string {
  const parent = dirname(folder)
  return parent === folder || hasRepository(folder) ? folder : topOf(parent)
}

export function headOf(root: string, git: Git): string | undefined {
  const { status, stdout } = run(root, git, ['rev-parse', '-q', '--verify', 'HEAD^{commit}'])
  const id = status === 0 ? stdout.toString('latin1').trim() : ''
  return COMMIT.test(id) ? id : undefined
}

/** Path to blob id of the files in a commit. Empty if git fails. */
export function committedBlobs(root: string, git: Git, commit: string): ReadonlyMap<string, string> {
  const entries = namesOf(run(root, git, ['ls-tree', '-r', '-z', commit])) ?? []
  // An entry has mode, type and id, then a tab and the name.
  return new Map(
    entries.map(entry => {
      const [, , id = ''] = entry.slice(0, entry.indexOf('\t')).split(' ')
      return [entry.slice(entry.indexOf('\t') + 1), id]
    }),
  )
}

/** The id that git gives a file's content, without filters; undefined if there is no such file. */
export function blobIdOf(root: string, path: string, idLength: number): string | undefined {
  try {
    const content = readFileSync(join(root, path))
    const digest = createHash(idLength > 40 ? 'sha256' : 'sha1')
    return digest.update(`blob ${content.length}\0`).update(content).digest('hex')
  } catch {
    return undefined
  }
}

const COMMIT = /^[0-9a-f]{40,64}$/

/** Name of a listed file. A submodule's name ends with a slash, as git lists nested repositories; '' if it is empty. */
function nameIn(root: string, entry: string): string {
  if (entry.startsWith(OTHER)) return entry.slice(OTHER.length)
  const name = entry.slice(entry.indexOf('\t') + 1)
  if (!SUBMODULE.test(entry)) return name
  return isEmpty(join(root, name)) ? '' : `${name}/`
}

// Each entry begins with a tag. For a tracked file, mode, hash and stage follow, up to a tab.
const OTHER = '? '
const SUBMODULE = /^\S+ 160000 /

const isIgnored = (root: string, git: Git): boolean =>
  run(root, git, ['check-ignore', '--no-index', '-q', '.']).status === 0

const namesOf = ({ status, error, stdout }: ReturnType<typeof run>): readonly string[] | undefined =>
  status === 0 && !error ? stdout.toString().split('\0').slice(0, -1) : undefined

/** Prevents repository configuration from starting programs, and user configuration from changing the answer. */
const SAFE = ['core.fsmonitor=false', `core.hooksPath=${devNull}`, 'protocol.allow=never', 'safe.directory=*']

const run = (root: string, { program, path }: Git, args: readonly string[], input?: string) =>
  spawnSync(program, ['--no-pager', ...SAFE.flatMap(value => ['-c', value]), '-C', root, ...args], {
    cwd: '/',
    env: {
      PATH: path,
      LC_ALL: 'C',
      GIT_CONFIG_GLOBAL: devNull,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_NO_LAZY_FETCH: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_TERMINAL_PROMPT: '0',
    },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_LISTED_BYTES,
    ...(input === undefined ? {} : { input }),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'ignore'],
    windowsHide: true,
  })

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/**
 * Whether a folder has a `.git` that git accepts as a repository: a file that points to one, or these three entries.
 */
export function hasRepository(folder: string): boolean {
  const path = join(folder, '.git')
  if (!existsSync(path)) return false
  return statSync(path).isFile() || ['HEAD', 'objects', 'refs'].every(name => existsSync(join(path, name)))
}

/** Folders that may hold build output. `bin` may hold scripts, too; git may ignore either. */
const OUTPUT_FOLDERS: ReadonlySet<string> = new Set(
  `.cache .next .nuxt .output .svelte-kit .turbo artifacts bin build cjs compiled coverage dist es esm lib log logs
  out output reports results target temp tmp`.split(/\s+/),
)

/**
 * Files that a build or a check rewrites: ignored files in an output folder, each mapped to the `.gitignore` that
 * ignores it. Leaves out files that `named` matches, and any `.gitignore`, which could ignore itself.
 */
export function builtFiles(
  root: string,
  git: Git | undefined,
  paths: readonly string[],
  named: readonly string[],
): ReadonlyMap<string, string> {
  const { matches } = globsOf(named)
  const candidates = paths.filter(
    path => !isAbsolute(path) && isInOutput(path) && basename(path) !== RULES && !matches(path),
  )
  return git && candidates.length > 0 ? ignoredBy(root, git, candidates) : new Map()
}

const isInOutput = (path: string): boolean =>
  path
    .split('/')
    .slice(0, -1)
    .some(name => OUTPUT_FOLDERS.has(name))
