import { delimiter, dirname, resolve } from 'node:path'
import { v7 } from 'uuid'
import { heldOutProblem } from '../../checks/approval.ts'
import { Obstacle } from '../../checks/obstacle.ts'
import { wrapperProblem, type CheckSettings } from '../../checks/settings.ts'
import { machineId, openWorkspace } from '../../checks/workspace.ts'
import type { Workspace } from '../../core/proof/check.ts'
import type { Redactor } from '../../core/text/redact.ts'
import { LocalWorkspaces } from '../../checks/local-workspaces.ts'
import { CliError } from '../cli-error.ts'
import type { Environment } from '../environment.ts'
import { configFolder } from './settings.ts'

interface WorkspaceOptions {
  readonly workspace?: string | undefined
  readonly sandbox?: string | undefined
  readonly data: string
  readonly environment: Environment
  readonly usesSandbox?: () => boolean
  /** True if our judge rules on claims of external agents. */
  readonly judges?: () => boolean
}

export function workspacesFor(
  { workspace, sandbox, usesSandbox, data, environment, judges }: WorkspaceOptions,
  settings: CheckSettings,
  redact: Redactor,
): LocalWorkspaces {
  const problem = wrapperProblem(settings, environment)
  if (problem !== undefined) throw new CliError(problem)
  let known: string | undefined
  // Lazy, because it writes to the user's configuration folder.
  const machine = (): string => (known ??= machineId(configFolder(environment)))
  const workspaces = workspace === undefined ? [] : [openedWorkspace(workspace, machine())]
  const held = settings.held_out === undefined ? undefined : heldOutProblem(settings.held_out, workspaces)
  if (held !== undefined) throw new CliError(held)
  return new LocalWorkspaces({
    ...settings,
    workspaces,
    machine,
    ...(sandbox === undefined ? {} : { own: openedWorkspace(sandbox, SANDBOX) }),
    environment: sandbox !== undefined && workspace === undefined ? withOurNode(environment) : environment,
    dataFolder: resolve(data),
    redact,
    newId: v7,
    ...(judges ? { judges } : {}),
    ...(usesSandbox ? { usesOwn: usesSandbox } : {}),
  })
}

/** The machine id of the demo's sandbox, which belongs to its data folder. */
const SANDBOX = 'sandbox'

/** The sandbox needs Node, and the running one may not be on the PATH. */
const withOurNode = (environment: Environment): Environment => ({
  ...environment,
  PATH: [dirname(process.execPath), environment['PATH'] ?? ''].join(delimiter),
})

function openedWorkspace(folder: string, machine: string): Workspace {
  const opened = openWorkspace(resolve(folder), machine)
  if (opened instanceof Obstacle) throw new CliError(`cannot use the workspace ${folder}: ${opened.reason}`)
  return opened
}
