import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { type Dir, existsSync, opendirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { globsOf } from './globs.ts'
import { lstatOf } from './file-hash.ts'
import { pathFrom } from './workspace.ts'

export interface Git {
  readonly program: string
  readonly path: string
}

const TIMEOUT_MS = 10_000
/** Enough for 20,000 names of 400 bytes, with their prefixes. */
const MAX_LISTED_BYTES = 10_000_000

export interface Bounds {
  readonly maxFiles: number
  readonly isLeftOut: (name: string) => boolean
}

/** Whether a folder belongs to a repository and is not ignored by it: git lists nothing in an ignored one. */
export const isInRepository = (root: string, git: Git): boolean =>
  hasRepository(root) || (hasRepository(topOf(root)) && !isIgnored(root, git))

/** A name is bytes in latin1. */
export const pathOf = (root: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')])

/**
 * Names of all files that git tracks or would track, as bytes in latin1. Undefined if git fails, above the limit, or if
 * files are hidden in submodules or nested repositories.
 */
export function gitFiles(root: string, git: Git, { maxFiles, isLeftOut }: Bounds): ReadonlySet<string> | undefined {
  // Lists tracked files with their modes, and untracked ones, in one process.
  const entries = listed(root, git, ['-t', '-s', '-o', '--exclude-standard'])
  const names = new Set(entries?.map(entry => nameIn(root, entry)).filter(name => name !== '' && !isLeftOut(name)))
  if (!entries || names.size > maxFiles) return undefined
  return [...names].some(isRepository) ? undefined : names
}

/**
 * Of these paths, those that a `.gitignore` ignores, each mapped to that file. Leaves out tracked files and files
 * ignored by other rules. Empty if git fails.
 */
export function ignoredBy(root: string, git: Git, paths: readonly string[]): ReadonlyMap<string, string> {
  const args = ['-c', `core.excludesFile=${devNull}`, 'check-ignore', '-v', '-z', '--stdin']
  // Git answers nothing at all if one path is in another repository or behind a link.
  const isOwn = ownFolders(root)
  const asked = paths.filter(path => isOwn(dirname(path))).map(path => `${path}\0`)
  const { status, error, stdout } = run(root, git, args, asked.join(''))
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

/** Tells whether a folder belongs to the same repository and is not behind a link. */
function ownFolders(root: string): (folder: string) => boolean {
  const known = new Map([['.', true]])
  const isOwn = (folder: string): boolean => {
    const path = join(root, folder)
    const found =
      known.get(folder) ?? (isOwn(dirname(folder)) && lstatOf(path)?.isDirectory() === true && !hasRepository(path))
    known.set(folder, found)
    return found
  }
  return isOwn
}

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
      return [Buffer.from(entry.slice(entry.indexOf('\t') + 1), 'latin1').toString(), id]
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
  return isEmpty(join(root, Buffer.from(name, 'latin1').toString())) ? '' : `${name}/`
}

const isRepository = (name: string): boolean => name.endsWith('/')

// Each entry begins with a tag. For a tracked file, mode, hash and stage follow, up to a tab.
const OTHER = '? '
const SUBMODULE = /^\S+ 160000 /

const isIgnored = (root: string, git: Git): boolean =>
  run(root, git, ['check-ignore', '--no-index', '-q', '.']).status === 0

function listed(root: string, git: Git, options: readonly string[]): readonly string[] | undefined {
  return namesOf(run(root, git, ['ls-files', '-z', ...options]))
}

const namesOf = ({ status, error, stdout }: ReturnType<typeof run>): readonly string[] | undefined =>
  status === 0 && !error ? stdout.toString('latin1').split('\0').slice(0, -1) : undefined

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

/** Repository internals, and caches that Node tools write whenever they run. */
const NEVER = /(^|\/)(\.git|node_modules\/\.cache)$/

/**
 * Names of all files below a folder, as bytes in latin1. Links are listed, not followed. Undefined if a folder is
 * unreadable, or above the limit.
 */
export function plainFiles(root: string, { maxFiles, isLeftOut }: Bounds): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  const folders = ['']
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesIn(root, folder)) {
      seen += 1
      if (!entry || seen > maxFiles) return undefined
      if (NEVER.test(entry.name) || isLeftOut(entry.name)) continue
      if (entry.isFolder) folders.push(entry.name)
      else names.add(entry.name)
    }
  }
  return names
}

interface Found {
  readonly name: string
  readonly isFolder: boolean
}

/** Lazy, so that a large folder is not read to its end. Yields undefined if it is unreadable. */
function* entriesIn(root: string, folder: string): Generator<Found | undefined> {
  let opened: Dir | undefined
  try {
    opened = opendirSync(pathOf(root, folder), { encoding: 'latin1' })
    for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
      yield { name: folder === '' ? entry.name : `${folder}/${entry.name}`, isFolder: entry.isDirectory() }
    }
  } catch {
    yield undefined
  } finally {
    opened?.closeSync()
  }
}
