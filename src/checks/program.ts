import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { Program, Workspace } from '../core/proof/check.ts'
import { becauseOf, Obstacle } from './obstacle.ts'
import { pathFrom, realOf } from './workspace.ts'

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
