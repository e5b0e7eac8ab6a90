import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Workspace } from '../core/proof/check.ts'
import { pathFrom, realOf } from './workspace.ts'

export const PREFIX = 'PYTHONPYCACHEPREFIX'

type Variables = Readonly<Record<string, string>>

/**
 * Runs `work` with an empty, temporary folder for Python's bytecode: stale bytecode beside the tests is not read, and a
 * check that compiles has a place to write to. Keeps a folder that the user configured.
 */
export async function withBytecodeFolder<T>(
  { path: root }: Workspace,
  env: Variables,
  run: (env: Variables) => Promise<T>,
): Promise<T> {
  if (env[PREFIX] !== undefined) return run(env)
  const folder = madeOutside(root)
  try {
    return await run({ ...env, [PREFIX]: folder ?? NOWHERE })
  } finally {
    // A daemon of the check may still write to it.
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => {})
  }
}

/** A folder that cannot exist: Python reads no bytecode, but cannot compile to files either. */
const NOWHERE = '/dev/null/none'

function madeOutside(root: string): string | undefined {
  const parent = realOf(tmpdir())
  if (pathFrom(root, parent) !== undefined) return undefined
  try {
    return mkdtempSync(join(parent, 'runsheet-bytecode-'))
  } catch {
    return undefined
  }
}
