import { basename, dirname, join, resolve } from 'node:path'
import { outputsOf } from './run-words.ts'
import { commandsOf, valuesIn, withValues } from './shell-text.ts'
import type { TextReader } from './text-reader.ts'

export interface TaskEntries {
  readonly file: string
  readonly texts: readonly string[]
  /** Targets of a `Makefile`: files that it may make. */
  readonly made: readonly string[]
  readonly includes: readonly string[]
  /** Paths where an existing file or folder would make the command's goal look up to date. */
  readonly goals: readonly string[]
}

/**
 * Whether a file has entries to run by name: a `Makefile`, a `justfile`, `deno.json`, `pyproject.toml` and the like.
 */
export const isTaskFile = (path: string): boolean => TASK_FILE.test(basename(path))

/**
 * Entries with these names, of a task file and its includes. If none match: everything, since the command runs a
 * default task.
 */
export function taskEntries(
  files: readonly string[],
  words: readonly string[],
  isNamed: (name: string) => boolean,
  reader: TextReader,
): readonly TaskEntries[] {
  const hasDefault = words.some(word => TASK_RUNNER.test(basename(word)))
  const all = [...new Set(files)]
  // `all` grows while it is read.
  for (const file of all) {
    const included = parsed(file, reader).includes.filter(each => !all.includes(each))
    all.push(...included.slice(0, MAX_FILES - all.length))
  }
  return all.flatMap(file => {
    const { entries, whole, made, includes, goal } = parsed(file, reader)
    const named = [...entries].flatMap(([name, texts]) => (isNamed(name) ? [...texts] : []))
    const texts = named.length === 0 && hasDefault && whole !== '' ? [whole] : [...new Set(named)]
    const goals = words.some(word => MAKE.test(basename(word)))
      ? made.filter(name => (named.length > 0 ? isNamed(name) : name === goal) && !isMade(name, entries))
      : []
    return texts.length === 0
      ? []
      : { file, texts, made, includes, goals: [...new Set(goals)].map(name => resolve(dirname(file), name)) }
  })
}

interface TaskFile {
  /** By name: the rest of its line, and the more deeply indented lines below. */
  readonly entries: ReadonlyMap<string, ReadonlySet<string>>
  readonly whole: string
  readonly made: readonly string[]
  readonly includes: readonly string[]
  /** The default goal of a `Makefile`. */
  readonly goal: string | undefined
}

/** Each file is parsed once, because many commands may name its entries. */
const PARSED = new WeakMap<TextReader, Map<string, TaskFile>>()

function parsed(file: string, reader: TextReader): TaskFile {
  const known = PARSED.get(reader) ?? new Map<string, TaskFile>()
  PARSED.set(reader, known)
  const found = known.get(file) ?? parsedAnew(file, reader)
  known.set(file, found)
  return found
}

function parsedAnew(file: string, reader: TextReader): TaskFile {
  const text = linesOf(file, reader)
  const lines = text.split('\n')
  const values = valuesIn(text)
  const readable = (part: string): string => withoutMarks(withValues(part, values))
  const entries = new Map<string, Set<string>>()
  for (const [index, line] of lines.entries()) {
    const names = namesAt(line)
    if (names.length === 0) continue
    const entry = readable(entryAt(lines, index))
    for (const name of names) entries.set(name, (entries.get(name) ?? new Set()).add(entry))
  }
  return {
    entries,
    whole: readable(text),
    made: targetsIn(file, lines),
    includes: includedBy(file, text),
    goal: (GOAL.exec(text) ?? FIRST_TARGET.exec(text))?.[1],
  }
}

const MAKE = /^g?make$/
const GOAL = /^\.DEFAULT_GOAL[ \t]*:?=[ \t]*(\S+)/m
const FIRST_TARGET = /^([\w/-][\w./-]*)(?![\w./-])[^:=\n]*:(?![:=]?=)/m
/** Programs that write their last argument. */
const WRITES = /^(?:mkdir|touch|cp|mv|ln|install)$/

/** Whether a recipe, or a built-in rule of make, makes the file or folder of a target. */
function isMade(name: string, entries: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  return [...(entries.get(name) ?? [])].some(entry => {
    const [needs = '', ...recipe] = entry.trimEnd().split('\n')
    if (recipe.length === 0) return needs.split(/\s+/).some(each => each.startsWith(`${name}.`))
    const written = commandsOf(recipe.join('\n')).flatMap(({ words, makes = [] }) => [
      ...outputsOf(words),
      ...makes,
      ...(words.some(word => WRITES.test(word)) ? words.slice(-1) : []),
    ])
    return written.some(path => /\$\(?@/.test(path) || join(path, '.') === join(name, '.'))
  })
}

const MAX_FILES = 100
const TASK_FILE =
  /^(?:(?:GNU)?[Mm]akefile|.+\.mk|\.?[Jj]ustfile|.+\.just|[Tt]askfile(?:\.dist)?\.ya?ml|deno\.jsonc?|composer\.json|pyproject\.toml|\.?mise\.toml|tox\.ini|noxfile\.py|tasks\.py|[Rr]akefile|CMakeLists\.txt|project\.json)$/
/** Programs that run a default task. */
const TASK_RUNNER = /^(?:g?make|just|task|go-task|rake|tox|nox|inv|invoke|poe|ctest)$/
/** `def test`, `task :test`; `test: …`, `"test": …`, `test = …`. */
const ENTRY = /^\s*(?:(?:def|task)\s+:?(\w+)|(.*?)(?::=?|=)(?=[\s"'[{]|$))(.*)$/

/** JSON with one line per entry. */
function linesOf(file: string, reader: TextReader): string {
  return file.endsWith('.json') ? JSON.stringify(reader.object(file), null, 1) : (reader.text(file) ?? '')
}

/** The rest of a line after its names, and the more deeply indented lines below. */
function entryAt(lines: readonly string[], index: number): string {
  const line = lines[index] ?? ''
  let end = index + 1
  while (end < lines.length && isBelow(lines[end] ?? '', line)) end += 1
  return [ENTRY.exec(line)?.[3] ?? '', ...lines.slice(index + 1, end)].join('\n')
}

const isBelow = (line: string, head: string): boolean => line.trim() === '' || indent(line) > indent(head)
const indent = (line: string): number => /\S/.exec(line)?.index ?? 0

function targetsIn(file: string, lines: readonly string[]): readonly string[] {
  if (!/(?:makefile|\.mk)$/i.test(file)) return []
  const phony = new Set(lines.flatMap(line => (line.startsWith('.PHONY') ? line.split(/[\s:]+/) : [])))
  return lines.flatMap(namesAt).filter(name => !phony.has(name))
}

function namesAt(line: string): readonly string[] {
  const [, defined, listed = ''] = ENTRY.exec(line) ?? []
  const names = (defined ?? listed).replaceAll(/["']/g, '').split(/\s+/)
  return names.map(name => name.replace(/:+$/, '')).filter(name => name !== '')
}

/** Recipes begin with `@`, lists with `-`; JSON and TOML have punctuation between words. */
const withoutMarks = (text: string): string => text.replaceAll(/^[ \t]*[-@+]+|[[\]{},]/gm, ' ')

const includedBy = (file: string, text: string): readonly string[] =>
  [...text.matchAll(/^(?:[-s]?include|import)[ \t]+["']?([^"'\n]+)/gm)]
    .flatMap(([, paths = '']) => paths.trim().split(/\s+/))
    .map(path => resolve(dirname(file), path))
