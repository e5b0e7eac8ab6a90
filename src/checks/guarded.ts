import { basename, isAbsolute, resolve } from 'node:path'
import { LOCKFILES, type RunnableSpec, TEST_FOLDERS, type WithPrograms } from '../domain/check.ts'
import { partedWords } from '../domain/looked-at.ts'
import { comparesFiles } from './compared-words.ts'
import { unreadBytecode } from './bytecode.ts'
import type { FileHashes, Stamps } from './files.ts'
import { RULES } from './git-files.ts'
import { globsOf, literal } from './globs.ts'
import { programsOf } from './hash.ts'
import { isInBin } from './npm-programs.ts'
import type { Place } from './place.ts'
import { type Start, startedBy } from './started-files.ts'
import { isAmongPrograms } from './work-folders.ts'
import { pathFrom } from './workspace.ts'

export interface Guards {
  readonly globs: readonly string[]
  /** Programs, words of a command that may be files, and files it may start. They need not exist. */
  readonly paths: readonly string[]
  /** Globs of files that count even if they are build output, because the check names them. */
  readonly named: readonly string[]
  /**
   * A file that a command starts without naming it is guarded if the baseline has it. `found` has others: ignore rules,
   * recognized by what they ignore, and snapshots, by the tests that name them.
   */
  readonly isGuarded: (path: string, baseline: FileHashes, found: ReadonlySet<string>) => boolean
  /**
   * Whether the check itself may write a file before the work: output of package managers, and ignored files that the
   * check does not name.
   */
  readonly mayWrite: (path: string, isIgnored: boolean) => boolean
  readonly isUnknown: boolean
}

/**
 * Guards what `protect` matches, a command's program, its file arguments, files started through script names, and
 * folders passed to a workspace script; never the files that the check itself tests.
 */
export function guardsOf(check: WithPrograms<RunnableSpec>, place: Place, protect: readonly string[]): Guards {
  const start = startOf(check, place)
  const { matches: isExpected } = globsOf(protect)
  const started = start && startedBy(start, isExpected)
  const { files = [], places = [], globs: patterns = [], folders = [] } = started ?? {}
  const paths = start ? [...programPaths(check, place), ...wordPaths(start, isExpected), ...places] : []
  const globs = [...protect, ...patterns, ...folders]
  const [isProtected, isOwn] = [globsOf(globs), ownFiles(check)]
  const isNamed = globsOf([...protect.filter(glob => glob !== TEST_FOLDERS), ...patterns])
  const isUnread = start ? unreadBytecode(start, place.env, [...paths, ...files]) : () => false
  return {
    globs: [...globs, `**/${RULES}`],
    paths: [...paths, ...files],
    named: [
      ...[...paths, ...files.filter(isAmongPrograms)].flatMap(path => (isAbsolute(path) ? [] : literal(path))),
      ...(check.kind === 'unchanged' ? check.paths : []),
    ],
    isGuarded: (path, baseline, found) =>
      !isOwn(path) &&
      !isUnread(path) &&
      (isProtected.matches(path) ||
        paths.includes(path) ||
        started?.wasThere(path, baseline) === true ||
        found.has(path)),
    mayWrite: (path, isIgnored) =>
      isLockfile(path) || isInBin(path) || (isIgnored && !isNamed.matches(path) && !paths.includes(path)),
    isUnknown: started?.isUnknown ?? false,
  }
}

const { matches: isLockfile } = globsOf(LOCKFILES)

export interface Watching {
  readonly files: FileHashes
  readonly stamps: Stamps
  readonly rules: ReadonlySet<string>
  readonly snapshots: ReadonlySet<string>
  readonly ignored?: ReadonlySet<string> | undefined
}

/** The state before and after a run; both are the same if the check runs nothing. */
export interface Around {
  readonly before: Watching
  readonly after: Watching
}

/**
 * Guarded files that changed, vanished or are new since the baseline, or that were written during the run even if
 * restored; sorted. Leaves out what the check itself writes.
 */
export function guardChanges(
  baseline: FileHashes,
  { written, ...run }: Around & { readonly written: ReadonlySet<string> },
  guards: Guards,
): readonly string[] {
  const { before, after } = run
  const found = new Set([...foundIn(before), ...foundIn(after)])
  const touched = touchedIn(run)
  const isSame = (path: string): boolean =>
    baseline.get(path) === before.files.get(path) && before.files.get(path) === after.files.get(path)
  const isOutput = (path: string): boolean =>
    touched.has(path) && (isLockfile(path) || written.has(path)) && (!isKept(path) || isSame(path))
  return [...new Set([...touched, ...differences(baseline, before.files)])]
    .filter(path => !isOutput(path) && guards.isGuarded(path, baseline, found))
    .sort()
}

const foundIn = ({ rules, snapshots }: Watching): ReadonlySet<string> => new Set([...rules, ...snapshots])

/** Files that an installing check rewrites in every run with the same content. */
const isKept = (path: string): boolean => isLockfile(path) || isInBin(path) || basename(path) === RULES

/** Guarded files that a run before the work wrote, as it left them, if the check may write them. */
export function ownWrites(baseline: FileHashes, run: Around, guards: Guards): FileHashes {
  const { before, after } = run
  const touched = touchedIn(run)
  const found = foundIn(after)
  const isOwn = (path: string): boolean =>
    touched.has(path) &&
    baseline.get(path) === before.files.get(path) &&
    guards.isGuarded(path, baseline, found) &&
    guards.mayWrite(path, after.ignored?.has(path) ?? false) &&
    (basename(path) !== RULES || isOfCache(path, before.files))
  return new Map([...after.files].filter(([path]) => isOwn(path)))
}

/** A new `.gitignore` in a new folder can only ignore new files: caches create one that ignores themselves. */
const isOfCache = (path: string, before: FileHashes): boolean =>
  ![...before.keys()].some(each => each.startsWith(path.slice(0, -RULES.length)))

const touchedIn = ({ before, after }: Around): ReadonlySet<string> =>
  new Set([...differences(before.files, after.files), ...differences(before.stamps, after.stamps)])

export const differences = (before: FileHashes, after: FileHashes): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter(path => before.get(path) !== after.get(path)).sort()

/** The files that a check tests are not guarded: it passes or fails by them. */
function ownFiles(check: RunnableSpec): (path: string) => boolean {
  if (check.kind === 'file') return path => path === normal(check.path)
  return check.kind === 'unchanged' ? globsOf(check.paths).matches : () => false
}

const normal = (path: string): string | undefined => pathFrom('/', resolve('/', path))

const programPaths = (check: WithPrograms<RunnableSpec>, place: Place): readonly string[] =>
  programsOf(check, place).flatMap(file => (file === null ? [] : [pathFrom(place.workspace.path, file) || file]))

const startOf = (check: RunnableSpec, { workspace: { path: root } }: Place): Start | undefined =>
  check.kind === 'command' ? { root, cwd: resolve(root, check.cwd ?? '.'), run: check.run } : undefined

/**
 * Words that may decide the result, and values after a `=` in them, as paths. If files are compared and one is known to
 * be expected, the others are the work.
 */
function wordPaths({ root, cwd, run }: Start, isExpected: (path: string) => boolean): readonly string[] {
  const paths = partedWords(run)
    .decides.slice(1)
    .flatMap(word => [word, word.slice(word.indexOf('=') + 1)])
    .flatMap(word => pathFrom(root, resolve(cwd, word)) || [])
  const expected = comparesFiles(run) ? paths.filter(isExpected) : []
  return expected.length > 0 ? expected : paths
}
