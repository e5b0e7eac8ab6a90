import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Check, CheckSpec, Workspace } from '../domain/check.ts'
import type { Place } from './place.ts'
import { programFile } from './program.ts'

/** The hash that a person approves: it changes with everything that decides what would run. */
export function approvalHash(check: CheckSpec, { workspace, wrap, env }: Place): string {
  const covered = [
    contentOf(check),
    workspace.machine,
    workspace.path,
    wrap,
    programsOf(check, { workspace, wrap, env }),
  ]
  return createHash('sha256').update(JSON.stringify(covered)).digest('hex')
}

/** The same where nobody can tell which program it would be: on another machine, or without a workspace. */
export function unresolvedHash(check: CheckSpec, workspace: Workspace | undefined, wrap: readonly string[]): string {
  const covered = [contentOf(check), workspace?.machine ?? null, workspace?.path ?? null, wrap, null]
  return createHash('sha256').update(JSON.stringify(covered)).digest('hex')
}

/** Whether this is what was approved. */
export const isAsApproved = (check: Check, place: Place): boolean =>
  check.hash === approvalHash(check, place) || check.hash === unresolvedHash(check, place.workspace, place.wrap)

const contentOf = (check: CheckSpec): readonly (readonly [string, unknown])[] =>
  Object.entries(check)
    .filter(([name]) => name !== 'id' && name !== 'hash')
    .sort(([a], [b]) => (a < b ? -1 : 1))

/** The files of the programs that a command starts: the wrapper's and its own. Null for one that does not exist. */
export function programsOf(check: CheckSpec, { workspace, wrap, env }: Place): readonly (string | null)[] {
  if (check.kind !== 'command') return []
  const cwd = resolve(workspace.path, check.cwd ?? '.')
  return [wrap[0], check.run[0]].flatMap(word =>
    word === undefined ? [] : [programFile(word, { workspace, cwd, path: env['PATH'] ?? '' })],
  )
}
