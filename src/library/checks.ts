import { join, resolve } from 'node:path'
import { v7 } from 'uuid'
import { findConfigFolder } from '../checks/config-folder.ts'
import { Obstacle } from '../checks/obstacle.ts'
import { NO_CHECK_SETTINGS, problemIn, wrapperProblem } from '../checks/settings.ts'
import { machineId, openWorkspace } from '../checks/workspace.ts'
import { redactor } from '../domain/redact.ts'
import { LocalWorkspaces } from '../runner/local-workspaces.ts'
import { type Checks, keepChecks } from './handles.ts'

export type { Workspace } from '../domain/check.ts'
export type { Checks } from './handles.ts'

/** Where checks run, and what they may do. */
export interface ChecksOptions {
  /** The folder of the project: checks run in it, and its files say whether a result is out of date. */
  readonly workspace: string
  /** Commands, as lists of words, that run without a person's approval: `[['npm', 'test']]`. */
  readonly allow?: readonly (readonly string[])[]
  /** Commands that run once before every plan ends, and have to pass. */
  readonly done?: readonly (readonly string[])[]
  /** Globs of more files that decide what a check means: if one changes, its checks prove nothing until a person accepts that. */
  readonly protect?: readonly string[]
  /** Words put before every command, such as a sandbox: `['bwrap', …]`. */
  readonly wrap?: readonly string[]
  /** Variables for checks. Of this process they get `PATH`, `HOME` and `LANG` only. */
  readonly env?: Readonly<Record<string, string>>
  /** The folder with the files of the store, which do not count as files of the project. Default: `.runsheet` in the workspace. */
  readonly data?: string
  /** Keys and other secrets that may turn up in the output of a check: they are not stored. */
  readonly secrets?: readonly string[]
}

/**
 * Lets the checks of tasks run in this process, for `createRunsheet({ checks })`. Of all processes on a store, `serve
 * --workspace` included, one at a time runs checks in a folder. Throws if the folder or a command cannot be used.
 */
export function openChecks({ workspace: folder, data, secrets = [], ...given }: ChecksOptions): Checks {
  const settings = { ...NO_CHECK_SETTINGS, ...given }
  const problem = problemIn(settings) ?? wrapperProblem(settings, process.env)
  if (problem !== undefined) throw new TypeError(problem)
  const machine = machineId(usable(findConfigFolder(process.env)))
  const workspace = usable(openWorkspace(resolve(folder), machine))
  const checks: Checks = { workspace }
  keepChecks(
    checks,
    judges =>
      new LocalWorkspaces({
        ...settings,
        workspaces: [workspace],
        machine: () => machine,
        environment: process.env,
        dataFolder: resolve(data ?? join(workspace.path, '.runsheet')),
        redact: redactor({ known: secrets }),
        newId: v7,
        judges,
      }),
  )
  return checks
}

function usable<T>(found: T | Obstacle): T {
  if (found instanceof Obstacle) throw new TypeError(`openChecks: ${found.reason}`)
  return found
}
