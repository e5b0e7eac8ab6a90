import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { Workspace } from '../domain/check.ts'
import { becauseOf, Obstacle } from './obstacle.ts'
import { pathFrom, realOf } from './workspace.ts'

/** A program that can be started. */
export interface Program {
  /** Where it was found. It is started by this path: a program may go by the name it is called by. */
  readonly path: string
  /** Its file, links followed. */
  readonly file: string
}

export interface Where {
  readonly workspace: Workspace
  readonly cwd: string
  /** A search path without folders of the workspace. */
  readonly path: string
}

/** The program that the first word of a command names. Without a slash it is looked for in the search path. */
export function findProgram(word: string, where: Where): Program | Obstacle {
  let obstacle: Obstacle | undefined
  for (const path of candidates(word, where)) {
    const found = programAt(path)
    if (found && !(found instanceof Obstacle)) return found
    obstacle ??= found
  }
  return obstacle ?? new Obstacle(`The program ${word} was not found.`)
}

/** The file that approval covers, or null. One of the workspace may be missing as yet: then its place is what is approved. */
export function programFile(word: string, where: Where): string | null {
  const found = findProgram(word, where)
  if (!(found instanceof Obstacle)) return found.file
  return word.includes('/') ? realOf(resolve(where.cwd, word)) : null
}

function candidates(word: string, { workspace, cwd, path }: Where): readonly string[] {
  if (!word.includes('/')) return path.split(delimiter).map(folder => join(folder, word))
  const absolute = resolve(cwd, word)
  return word.startsWith('/') || pathFrom(workspace.path, absolute) !== undefined ? [absolute] : []
}

/** Undefined if there is nothing. */
function programAt(path: string): Program | Obstacle | undefined {
  try {
    const file = realpathSync(path)
    const stats = statSync(file)
    if (stats.isDirectory()) return new Obstacle(`${path} is a folder, not a program.`)
    if (!stats.isFile()) return new Obstacle(`${path} is not a regular file.`)
    accessSync(file, constants.X_OK)
    return interpreterProblem(file) ?? { path, file }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code === 'EACCES') return new Obstacle(`${path} is not executable. Run: chmod +x ${path}`)
    return new Obstacle(`${path} cannot be started: ${becauseOf(error)}.`)
  }
}

/** A script whose first line names a program that does not exist would seem to have failed. */
function interpreterProblem(file: string): Obstacle | undefined {
  const [, interpreter] = /^#![ \t]*(\S+)/.exec(headOf(file)) ?? []
  if (interpreter === undefined || statSync(interpreter, { throwIfNoEntry: false })?.isFile()) return undefined
  return new Obstacle(`${file} cannot be started: its first line names ${interpreter}, which does not exist.`)
}

function headOf(path: string): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    // A program may be executable and not readable.
    return ''
  }
  try {
    const head = Buffer.alloc(256)
    return head.toString('latin1', 0, readSync(file, head))
  } finally {
    closeSync(file)
  }
}
