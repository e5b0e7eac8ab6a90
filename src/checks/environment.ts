import { delimiter, isAbsolute } from 'node:path'
import type { Workspace } from '../core/proof/check.ts'
import { pathFrom, realOf } from './workspace.ts'

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
