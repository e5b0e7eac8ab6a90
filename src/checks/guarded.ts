import { basename, isAbsolute, resolve } from 'node:path'
import type { RunnableSpec, WithPrograms } from '../domain/check.ts'
import type { FileHashes, Stamps } from './files.ts'
import { readsNoBytecode } from './environment.ts'
import { globsOf, literal } from './globs.ts'
import { programsOf } from './hash.ts'
import type { Place } from './place.ts'
import { type Start, startedBy } from './started-files.ts'
import { isWork } from './work-folders.ts'
import { isFile, pathFrom } from './workspace.ts'

/** The files that decide what a check means. */
export interface Guards {
  readonly globs: readonly string[]
  /** The programs and the words of a command that may be files. They need not exist. */
  readonly paths: readonly string[]
  /** Globs of files that count even if they are built: the check names them. */
  readonly named: readonly string[]
  /** What a command starts without naming it is guarded if it was there at the baseline. */
  readonly isGuarded: (path: string, baseline: FileHashes) => boolean
  /** Whether a file decides what counts as built. It is guarded where something is left out as built. */
  readonly isRule: (path: string) => boolean
}

/**
 * What `protect` matches, the program of a command, its words that are files, what it starts by the name of a script, and
 * what is in folders that it gives to a script of the workspace; never what the check itself looks at.
 */
export function guardsOf(check: WithPrograms<RunnableSpec>, place: Place, protect: readonly string[]): Guards {
  const start = startOf(check, place)
  const started = start && startedBy(start)
  const paths = start && started ? [...programPaths(check, place), ...wordPaths(start), ...started.places] : []
  const globs = [...protect, ...(started?.globs ?? []), ...folderGlobs(start)]
  const [isProtected, isOwn] = [globsOf(globs), ownFiles(check)]
  const isUnread = (path: string): boolean =>
    check.kind === 'command' && path.endsWith('.pyc') && isCached(path) && readsNoBytecode(place.env, check.run)
  return {
    globs: [...globs, RULES],
    paths: [...paths, ...(started?.files ?? []).filter(path => isFile(resolve(place.workspace.path, path)))],
    named: [
      ...paths.flatMap(path => (isAbsolute(path) ? [] : literal(path))),
      ...(check.kind === 'unchanged' ? check.paths : []),
    ],
    isGuarded: (path, baseline) =>
      !isOwn(path) &&
      !isUnread(path) &&
      (isProtected.matches(path) || paths.includes(path) || started?.wasThere(path, baseline) === true),
    isRule: path => !isOwn(path) && isRule(path),
  }
}

const { matches: isCached } = globsOf(['**/__pycache__/*'])

/** What git ignores. Any other source of such rules does not make a file built. */
const RULES = '**/.gitignore'
const { matches: isRule } = globsOf([RULES])

/** The guarded files that changed, vanished or are new since the baseline, sorted. */
export function guardChanges(
  baseline: FileHashes,
  now: Pick<Watching, 'files' | 'hasBuilt'>,
  guards: Guards,
): readonly string[] {
  return differences(baseline, now.files).filter(
    path => guards.isGuarded(path, baseline) || (now.hasBuilt && guards.isRule(path)),
  )
}

/** The guarded files that were written to between two surveys, even if they are as before. */
export function guardsTouched(
  baseline: FileHashes,
  before: Watching,
  after: Watching,
  guards: Guards,
): readonly string[] {
  const written = differences(before.stamps, after.stamps)
  const hasBuilt = before.hasBuilt || after.hasBuilt
  return [...new Set([...differences(before.files, after.files), ...written])].filter(
    path => guards.isGuarded(path, baseline) || (hasBuilt && guards.isRule(path)),
  )
}

/** What is known of guarded files at one moment. */
export interface Watching {
  readonly files: FileHashes
  readonly stamps: Stamps
  /** Whether files were left out because they are built. */
  readonly hasBuilt: boolean
}

/** The paths at which two sets of files differ, sorted. */
export const differences = (before: FileHashes, after: FileHashes): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter(path => before.get(path) !== after.get(path)).sort()

/** What a check looks at is its own affair: it fails or passes by it. */
function ownFiles(check: RunnableSpec): (path: string) => boolean {
  if (check.kind === 'file') return path => path === normal(check.path)
  return check.kind === 'unchanged' ? globsOf(check.paths).matches : () => false
}

/** What a script of the workspace makes of the files in a folder, only it knows: tests may have any name there. */
function folderGlobs(start: Start | undefined): readonly string[] {
  if (!start) return []
  const { root, cwd, run } = start
  const isLeftOut = (path: string): boolean => pathFrom(resolve(root, path), cwd) !== undefined || isWork(path)
  return pathsIn(root, cwd, scriptWords(run, root, cwd)).flatMap(path => (isLeftOut(path) ? [] : `${literal(path)}/**`))
}

/** The words that a script of the workspace gets; none if another program runs, which has rules of its own for names. */
function scriptWords([program = '', ...words]: readonly string[], root: string, cwd: string): readonly string[] {
  const isScript = (word: string): boolean => {
    const path = pathFrom(root, resolve(cwd, word))
    return path !== undefined && !path.split('/').includes(MODULES)
  }
  if (program.includes('/') && isScript(program)) return words
  const first = INTERPRETERS.test(basename(program)) ? words.findIndex(word => !word.startsWith('-')) : -1
  return first >= 0 && isScript(words[first] ?? '') ? words.slice(first + 1) : []
}

const MODULES = 'node_modules'
const INTERPRETERS = /^(?:node|(?:ba|da|z)?sh|python[\d.]*|ruby|perl|php)$/

const normal = (path: string): string | undefined => pathFrom('/', resolve('/', path))

const programPaths = (check: WithPrograms<RunnableSpec>, place: Place): readonly string[] =>
  programsOf(check, place).flatMap(file => (file === null ? [] : [pathFrom(place.workspace.path, file) || file]))

const startOf = (check: RunnableSpec, { workspace: { path: root } }: Place): Start | undefined =>
  check.kind === 'command' ? { root, cwd: resolve(root, check.cwd ?? '.'), run: check.run } : undefined

/** Words are taken as paths, and what follows a `=` in them. */
const wordPaths = ({ root, cwd, run }: Start): readonly string[] => pathsIn(root, cwd, run.slice(1))

const pathsIn = (root: string, cwd: string, words: readonly string[]): readonly string[] =>
  words
    .flatMap(word => [word, word.slice(word.indexOf('=') + 1)])
    .flatMap(word => pathFrom(root, resolve(cwd, word)) || [])
