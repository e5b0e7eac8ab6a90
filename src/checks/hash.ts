import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { CheckSpec } from '../domain/check.ts'
import type { Place } from './place.ts'
import { programFile } from './program.ts'

/** The hash that a person approves: it changes with everything that decides what would run. */
export function approvalHash(check: CheckSpec, { workspace, wrap, env }: Place): string {
  const fields = Object.entries(check).filter(([name]) => name !== 'id' && name !== 'hash')
  const spec = fields.sort(([a], [b]) => (a < b ? -1 : 1))
  const covered = [spec, workspace.machine, workspace.path, wrap, programsOf(check, { workspace, wrap, env })]
  return createHash('sha256').update(JSON.stringify(covered)).digest('hex')
}

/** The files of the programs that a command starts: the wrapper's and its own. Null for one that does not exist. */
export function programsOf(check: CheckSpec, { workspace, wrap, env }: Place): readonly (string | null)[] {
  if (check.kind !== 'command') return []
  const cwd = resolve(workspace.path, check.cwd ?? '.')
  return [wrap[0], check.run[0]].flatMap(word =>
    word === undefined ? [] : [programFile(word, { workspace, cwd, path: env['PATH'] ?? '' })],
  )
}
