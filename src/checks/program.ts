import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs'
import type { Program, Workspace } from '../core/proof/check.ts'
import { pathFrom, realOf } from './workspace.ts'
import { Obstacle, becauseOf } from './obstacle.ts'
import { quoteWords } from '../core/proof/check-text.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of a check: what programs need, and what the user configured. Leaves out our tokens and keys. */
export function checkEnvironment(
  ours: Environment,
  workspace: Workspace,
  configured: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const { HOME, LANG } = ours
  const PATH = searchPath(configured['PATH'] ?? ours['PATH'], workspace)
  return { ...(HOME ? { HOME } : {}), ...(LANG ? { LANG } : {}), ...FIXED, ...configured, PATH }
}

const FIXED = { CI: '1', PYTHONDONTWRITEBYTECODE: '1' }

const USUAL_PATH = ['/usr/local/bin', '/usr/bin', '/bin']

/** PATH without folders that an agent can write to: the workspace, and relative entries. */
export function searchPath(path: string | undefined, workspace?: Workspace): string {
  const isOutside = (folder: string): boolean => workspace === undefined || !isIn(workspace, folder)
  const kept = (path ?? '').split(delimiter).filter(folder => isAbsolute(folder) && isOutside(folder))
  return (kept.length > 0 ? kept : USUAL_PATH).join(delimiter)
}

const isIn = ({ path: root }: Workspace, folder: string): boolean =>
  [folder, realOf(folder)].some(each => pathFrom(root, each) !== undefined)

export interface Place {
  readonly workspace: Workspace
  /** Prefix of every command, such as a sandbox. */
  readonly wrap: readonly string[]
  /** The entire environment of a check; its PATH finds programs. */
  readonly env: Readonly<Record<string, string>>
  /** The folder with the files of held-out checks. */
  readonly heldOut?: string | undefined
}

export interface Where {
  readonly workspace: Workspace
  readonly cwd: string
  /** A search path without folders of the workspace. */
  readonly path: string
}

/** Whether a word is looked up in the search path. */
export const isName = (word: string): boolean => !word.includes('/')

/** Finds the program that a command's first word names. `known` is the one found at approval. */
export function findProgram(word: string, where: Where, known?: Program | null): Program | Obstacle {
  let obstacle: Obstacle | undefined
  for (const path of known ? [known.path] : candidates(word, where)) {
    const found = programAt(path)
    if (found && !(found instanceof Obstacle)) return found
    obstacle ??= found
  }
  return obstacle ?? new Obstacle(`The program ${word} was not found.`)
}

/** The file that approval covers, or null. A workspace program may not exist yet; then its path is approved. */
export function programFile(word: string, where: Where): string | null {
  const found = findProgram(word, where)
  if (!(found instanceof Obstacle)) return found.file
  return isName(word) ? null : realOf(resolve(where.cwd, word))
}

function candidates(word: string, { workspace, cwd, path }: Where): readonly string[] {
  if (isName(word)) return path.split(delimiter).map(folder => join(folder, word))
  const absolute = resolve(cwd, word)
  return word.startsWith('/') || pathFrom(workspace.path, absolute) !== undefined ? [absolute] : []
}

function programAt(path: string): Program | Obstacle | undefined {
  try {
    const file = realpathSync(path)
    const stats = statSync(file)
    if (stats.isDirectory()) return new Obstacle(`${path} is a folder, not a program.`)
    if (!stats.isFile()) return new Obstacle(`${path} is not a regular file.`)
    accessSync(file, constants.X_OK)
    return { path, file }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code === 'EACCES') return new Obstacle(`${path} is not executable. Run: chmod +x ${path}`)
    return new Obstacle(`${path} cannot be started: ${becauseOf(error)}.`)
  }
}

const MAX_BYTES = 200_000
const MAX_COMMANDS = 20

export function commandsIn(folder: string): readonly string[] {
  const found = [...scriptsIn(folder), ...targetsIn(folder)]
  const isCheck = (command: string): boolean => /\b(test|check|lint|verify|typecheck|build)/i.test(command)
  return [...found.filter(isCheck), ...found.filter(command => !isCheck(command))].slice(0, MAX_COMMANDS)
}

function scriptsIn(folder: string): readonly string[] {
  try {
    const { scripts } = JSON.parse(textOf(join(folder, 'package.json'))) as { scripts?: Record<string, unknown> }
    return Object.keys(scripts ?? {})
      .filter(name => typeof scripts?.[name] === 'string' && /^[\w:.-]{1,64}$/.test(name))
      .map(name => quoteWords(name === 'test' ? ['npm', 'test'] : ['npm', 'run', name]))
  } catch {
    // Missing or unreadable: nothing to suggest.
    return []
  }
}

function targetsIn(folder: string): readonly string[] {
  try {
    const lines = textOf(join(folder, 'Makefile')).matchAll(/^([A-Za-z][\w.-]{0,63})\s*:(?!=)/gm)
    return [...new Set([...lines].map(([, target = '']) => quoteWords(['make', target])))]
  } catch {
    return []
  }
}

function textOf(path: string): string {
  const stats = statSync(path)
  if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error('too large')
  return readFileSync(path, 'utf8')
}
