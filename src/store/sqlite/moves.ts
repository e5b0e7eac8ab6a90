import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { flushFolder } from '../private-file.ts'
import { StoreError } from '../store-error.ts'

/** File replacements that happen all or not at all. */
export interface Moves<R = unknown> {
  /** In order; paths within the database's folder. */
  readonly moves: readonly (readonly [from: string, to: string])[]
  readonly report: R
}

/** Writes a journal of the moves, then runs them. Until all are done, `refuseUnfinished` refuses the database. */
export function moveTogether(path: string, moves: Moves): void {
  const plan = planPath(path)
  writeFileSync(`${plan}.new`, JSON.stringify(moves), { mode: 0o600, flush: true })
  renameSync(`${plan}.new`, plan)
  flushFolder(dirname(path))
  finishMoves(path, moves)
}

export function unfinishedMoves(path: string): Moves | undefined {
  const plan = planPath(path)
  return existsSync(plan) ? (JSON.parse(readFileSync(plan, 'utf8')) as Moves) : undefined
}

/** Runs the remaining moves. Only one process at a time may do this. */
export function finishMoves(path: string, { moves }: Moves): void {
  const folder = dirname(path)
  for (const [from, to] of moves) move(join(folder, from), join(folder, to))
  flushFolder(folder)
  rmSync(planPath(path))
  flushFolder(folder)
}

/** Throws while a restore is unfinished: a start would find half of the files. */
export function refuseUnfinished(path: string): void {
  if (!unfinishedMoves(path) && !(existsSync(path) && unfinishedMoves(realpathSync(path)))) return
  const message = `"runsheet restore" was interrupted while it replaced ${path}. Run the same command again: it finishes.`
  throw new StoreError('corrupt', message)
}

export const isPlan = (name: string): boolean => /-moves(?:\.new)?$/.test(name)

const planPath = (path: string): string => `${path}-moves`

function move(from: string, to: string): void {
  // On a second run, the file now at `from` is already the replacement and must stay.
  if (!existsSync(from) || existsSync(to)) return
  mkdirSync(dirname(to), { recursive: true })
  renameSync(from, to)
  flushFolder(dirname(to))
}
