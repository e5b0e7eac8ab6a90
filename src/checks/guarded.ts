import { resolve } from 'node:path'
import type { RunnableSpec, WithPrograms } from '../domain/check.ts'
import type { FileHashes, Stamps } from './files.ts'
import { globsOf } from './globs.ts'
import { programsOf } from './hash.ts'
import type { Place } from './place.ts'
import { pathFrom } from './workspace.ts'

/** The files that decide what a check means. */
export interface Guards {
  readonly globs: readonly string[]
  /** The programs and the words of a command that may be files. They need not exist. */
  readonly paths: readonly string[]
  readonly isGuarded: (path: string) => boolean
}

/** What `protect` matches, the program of a command, and its words that are files; never what the check itself looks at. */
export function guardsOf(check: WithPrograms<RunnableSpec>, place: Place, protect: readonly string[]): Guards {
  const paths = check.kind === 'command' ? [...programPaths(check, place), ...wordPaths(check, place)] : []
  const globs = [...protect, ...binGlobs(check)]
  const [isProtected, isOwn] = [globsOf(globs), ownFiles(check)]
  return {
    globs,
    paths,
    isGuarded: path => !isOwn(path) && (isProtected.matches(path) || paths.includes(path)),
  }
}

/** The guarded files that changed, vanished or are new since the baseline, sorted. */
export function guardChanges(baseline: FileHashes, now: FileHashes, { isGuarded }: Guards): readonly string[] {
  return differences(baseline, now).filter(isGuarded)
}

/** The guarded files that were written to between two surveys, even if they are as before. */
export function guardsTouched(before: Watching, after: Watching, { isGuarded }: Guards): readonly string[] {
  const written = differences(before.stamps, after.stamps)
  return [...new Set([...differences(before.files, after.files), ...written])].filter(isGuarded)
}

/** What is known of guarded files at one moment. */
export interface Watching {
  readonly files: FileHashes
  readonly stamps: Stamps
}

/** The paths at which two sets of files differ, sorted. */
export const differences = (before: FileHashes, after: FileHashes): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter(path => before.get(path) !== after.get(path)).sort()

/** What a check looks at is its own affair: it fails or passes by it. */
function ownFiles(check: RunnableSpec): (path: string) => boolean {
  if (check.kind === 'file') return path => path === normal(check.path)
  return check.kind === 'unchanged' ? globsOf(check.paths).matches : () => false
}

/** npm finds programs in the packages from the folder of a command up to the root. */
function binGlobs(check: RunnableSpec): readonly string[] {
  const folder = check.kind === 'command' ? normal(check.cwd ?? '.') : ''
  if (!folder) return []
  const names = folder.split('/')
  return names.map(
    (_, index) =>
      `${names
        .slice(0, index + 1)
        .map(escaped)
        .join('/')}/node_modules/.bin/**`,
  )
}

/** Text as a glob that matches just that. */
const escaped = (name: string): string => name.replaceAll(/[\\[\](){}*?!+@|^$]/g, String.raw`\$&`)

const normal = (path: string): string | undefined => pathFrom('/', resolve('/', path))

const programPaths = (check: WithPrograms<RunnableSpec>, place: Place): readonly string[] =>
  programsOf(check, place).flatMap(file => (file === null ? [] : [pathFrom(place.workspace.path, file) || file]))

/** Words are taken as paths, and what follows a `=` in them. */
function wordPaths(check: RunnableSpec, { workspace: { path: root } }: Place): readonly string[] {
  if (check.kind !== 'command') return []
  const cwd = resolve(root, check.cwd ?? '.')
  return check.run
    .slice(1)
    .flatMap(word => [word, word.slice(word.indexOf('=') + 1)])
    .flatMap(word => pathFrom(root, resolve(cwd, word)) || [])
}
