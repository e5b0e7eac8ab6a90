import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { flushFolder } from '../folder.ts'
import { StoreError } from '../store-error.ts'

/** Files that take the place of others, all of them or none. */
export interface Moves<R = unknown> {
  /** The command that moves them, and that finishes after a crash. */
  readonly command: 'recover' | 'restore'
  /** In order; paths within the folder of the database. */
  readonly moves: readonly (readonly [from: string, to: string])[]
  /** What the command has to say at its end. */
  readonly report: R
}

/** Writes down what is to be moved, then moves it. Until all of it is moved, `refuseUnfinished` refuses the database. */
export function moveTogether(path: string, moves: Moves): void {
  const plan = planPath(path)
  writeFileSync(`${plan}.new`, JSON.stringify(moves), { mode: 0o600, flush: true })
  renameSync(`${plan}.new`, plan)
  flushFolder(dirname(path))
  finishMoves(path, moves)
}

/** What a command that was killed has left to do. */
export function unfinishedMoves(path: string): Moves | undefined {
  const plan = planPath(path)
  return existsSync(plan) ? (JSON.parse(readFileSync(plan, 'utf8')) as Moves) : undefined
}

/** Moves what is not moved yet. Only one process may do this. */
export function finishMoves(path: string, { moves }: Moves): void {
  const folder = dirname(path)
  for (const [from, to] of moves) move(join(folder, from), join(folder, to))
  flushFolder(folder)
  rmSync(planPath(path))
  flushFolder(folder)
}

/** A start would find half of the files. */
export function refuseUnfinished(path: string): void {
  const command = [path, ...(existsSync(path) ? [realpathSync(path)] : [])]
    .map(each => unfinishedMoves(each)?.command)
    .find(each => each !== undefined)
  if (command === undefined) return
  const message = `"runsheet ${command}" was interrupted while it replaced ${path}. Run the same command again: it finishes.`
  throw new StoreError('corrupt', message)
}

/** Whether a file beside a database says what is to be moved. */
export const isPlan = (name: string): boolean => /-moves(?:\.new)?$/.test(name)

const planPath = (path: string): string => `${path}-moves`

function move(from: string, to: string): void {
  // The second time, what took its place must not follow it.
  if (!existsSync(from) || existsSync(to)) return
  mkdirSync(dirname(to), { recursive: true })
  renameSync(from, to)
  flushFolder(dirname(to))
}
