import { join, resolve } from 'node:path'
import { v7 } from 'uuid'
import { findConfigFolder, machineId, openWorkspace } from '../checks/workspace.ts'
import { heldOutProblem } from '../checks/approval.ts'
import { Obstacle } from '../checks/obstacle.ts'
import { NO_CHECK_SETTINGS, problemIn, wrapperProblem } from '../checks/settings.ts'
import { redactor } from '../core/text/redact.ts'
import { LocalWorkspaces } from '../checks/local-workspaces.ts'
import { keepChecks, type Checks } from './handles.ts'

export type { Workspace } from '../core/proof/check.ts'
export type { Checks } from './handles.ts'

/** Options of `openChecks`. */
export interface ChecksOptions {
  /** The project folder. Checks run in it; a result becomes stale when its files change. */
  readonly workspace: string
  /** Commands, as argument lists, that run without a person's approval: `[['npm', 'test']]`. */
  readonly allow?: readonly (readonly string[])[]
  /** Commands that must pass once before any plan ends. */
  readonly done?: readonly (readonly string[])[]
  /** Globs of files to protect, besides the table. When one changes, checks prove nothing until a person accepts the change. */
  readonly protect?: readonly string[]
  /** Arguments that prefix every command, such as a sandbox: `['bwrap', …]`. */
  readonly wrap?: readonly string[]
  /** Environment variables for checks. From this process they inherit only `PATH`, `HOME` and `LANG`. */
  readonly env?: Readonly<Record<string, string>>
  /** The folder with the files of held-out checks, outside the workspace; they get it as `RUNSHEET_HELD_OUT`. */
  readonly held_out?: string
  /** The folder of the store's files, which are not project files. Default: `.runsheet` in the workspace. */
  readonly data?: string
  /** Keys and other secrets to redact from the stored output of checks. */
  readonly secrets?: readonly string[]
}

/**
 * Runs the checks of tasks in this process, for `createRunsheet({ checks })`. Only one process per store runs checks in
 * a folder at a time, including `serve --workspace`. Throws if the folder or a command cannot be used.
 */
export function openChecks({ workspace: folder, data, secrets = [], ...given }: ChecksOptions): Checks {
  const settings = { ...NO_CHECK_SETTINGS, ...given }
  const problem = problemIn(settings) ?? wrapperProblem(settings, process.env)
  if (problem !== undefined) throw new TypeError(problem)
  const machine = machineId(usable(findConfigFolder(process.env)))
  const workspace = usable(openWorkspace(resolve(folder), machine))
  const held = given.held_out === undefined ? undefined : heldOutProblem(given.held_out, [workspace])
  if (held !== undefined) throw new TypeError(held)
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
