import { basename, resolve } from 'node:path'
import { DEFAULT_PROTECT, type RunnableSpec } from '../domain/check.ts'
import { partedWords } from '../domain/looked-at.ts'
import { asFolder, type FileHashes, type Stamps } from './files.ts'
import { RULES } from './git-files.ts'
import { globsOf, literal } from './globs.ts'
import { pathFrom } from './workspace.ts'

/** Where a step without a scope may change files. */
export const WORK_FOLDERS: readonly string[] = [
  '{src,source,sources,lib,app,pages,components,public,include,internal,cmd,pkg,doc,docs}/**',
  '{packages,apps,crates,libs,modules}/*/{src,source,sources,lib,app,pages,components,public,include,docs}/**',
]

/** Files that decide what checks mean: a step may change them only if its own scope says so. */
export const PROTECTED: readonly string[] = [...DEFAULT_PROTECT, '{.venv,venv}/bin/**']

/** The files of a workspace at one moment. */
export interface SeenFiles {
  readonly files: FileHashes
  /** Change with every write, even if the content is the same. */
  readonly stamps: Stamps
  /** The `.gitignore` files that hide protected files as build output. */
  readonly rules: ReadonlySet<string>
}

/** The files after the first runs of a plan. */
export interface PlanFiles {
  readonly files: FileHashes
  /** Written by the first runs. */
  readonly written: ReadonlySet<string>
}

/** What the steps of a plan may change; undefined for a step without a scope. */
export interface Scopes {
  /** Of the step whose check runs. */
  readonly own: readonly string[] | undefined
  /** Of each step that is in progress or done, this one included. */
  readonly begun: readonly (readonly string[] | undefined)[]
}

/** Changes that keep a step from being proven until a person accepts them. */
export interface ScopeFindings {
  /** No step of the plan may change these. */
  readonly outside: readonly string[]
  /** Protected files within the step's own scope, such as its own tests. */
  readonly own: readonly string[]
}

/** Globs and paths to watch besides the files that git lists. A path with a trailing slash is a folder. */
export function watchedBy(check: RunnableSpec, root: string, protect: readonly string[]) {
  const words = wordsOf(check, root)
  return {
    globs: [...protectedBy(check, root, protect), `**/${RULES}`, ...words.map(word => `${literal(word)}/**`)],
    paths: words.flatMap(word => [word, asFolder(word)]),
  }
}

/** Finds the files that changed since the first runs of the plan, or during this run, without being in scope. */
export function changesOutOfScope(
  check: RunnableSpec,
  root: string,
  protect: readonly string[],
  { own, begun }: Scopes,
  plan: PlanFiles,
  run: { readonly before: SeenFiles; readonly after: SeenFiles },
): ScopeFindings {
  const { before, after } = run
  const isOwn = globsOf(own ?? []).matches
  const isBegun = begun.map(scope => globsOf(scope ?? WORK_FOLDERS).matches)
  const isInTable = globsOf(protectedBy(check, root, protect)).matches
  const isWord = isNamedBy(wordsOf(check, root))
  const isChecked = checkedBy(check)
  const touched = new Set([...differences(before.files, after.files), ...differences(before.stamps, after.stamps)])
  const changed = new Set([...touched, ...differences(plan.files, before.files)])
  const outside: string[] = []
  const ownTests: string[] = []
  for (const path of [...changed].sort()) {
    const isProtected = isInTable(path) || before.rules.has(path) || after.rules.has(path)
    // The check may rewrite what it wrote at first. A protected file counts as that only if this very run wrote it.
    const isOutput = plan.written.has(path) && (touched.has(path) || !isProtected)
    if (isChecked(path) || isOutput || (basename(path) === RULES && !isProtected)) continue
    if (isProtected && isOwn(path)) ownTests.push(path)
    else if (isProtected || isWord(path) ? !isOwn(path) : !isBegun.some(matches => matches(path))) outside.push(path)
  }
  return { outside, own: ownTests }
}

/** Default globs, those of the settings, and the programs of the package that a command runs in. */
function protectedBy(check: RunnableSpec, root: string, protect: readonly string[]): readonly string[] {
  const cwd = check.kind === 'command' && check.cwd !== undefined ? pathFrom(root, resolve(root, check.cwd)) : undefined
  return [...PROTECTED, ...protect, ...(cwd ? [`${literal(cwd)}/node_modules/.bin/**`] : [])]
}

/** Words of a command that may be files or folders of the workspace, except those that its program only inspects. */
function wordsOf(check: RunnableSpec, root: string): readonly string[] {
  if (check.kind !== 'command') return []
  const cwd = resolve(root, check.cwd ?? '.')
  return partedWords(check.run)
    .decides.slice(1)
    .flatMap(word => [word, word.slice(word.indexOf('=') + 1)])
    .flatMap(word => pathFrom(root, resolve(cwd, word)) || [])
}

/**
 * Whether a path is one of the words, or in a folder that one names. A work folder that a command names is the work
 * itself.
 */
function isNamedBy(words: readonly string[]): (path: string) => boolean {
  const isWork = globsOf(WORK_FOLDERS).matches
  const folders = words.filter(word => !isWork(`${word}/file`))
  return path =>
    words.some(word => path === word || path === asFolder(word)) || folders.some(word => path.startsWith(`${word}/`))
}

/** Files that a check tests; it passes or fails by them. */
function checkedBy(check: RunnableSpec): (path: string) => boolean {
  if (check.kind === 'file') return path => path === pathFrom('/', resolve('/', check.path))
  return check.kind === 'unchanged' ? globsOf(check.paths).matches : () => false
}

const differences = (before: FileHashes, after: FileHashes): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter(path => before.get(path) !== after.get(path))
