import { delimiter, dirname, resolve } from 'node:path'
import { v7 } from 'uuid'
import { Obstacle } from '../checks/obstacle.ts'
import { type CheckSettings, wrapperProblem } from '../checks/settings.ts'
import { machineId, openWorkspace } from '../checks/workspace.ts'
import type { Workspace } from '../domain/check.ts'
import type { Redactor } from '../domain/redact.ts'
import { LocalWorkspaces } from '../runner/local-workspaces.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { configFolder } from './config-folder.ts'

export interface WorkspaceOptions {
  /** `--workspace`. */
  readonly workspace?: string | undefined
  /** The sandbox of the demo. */
  readonly sandbox?: string | undefined
  readonly data: string
  readonly environment: Environment
  /** Whether turns that begin now get the sandbox. */
  readonly usesSandbox?: () => boolean
  /** Whether a judge of ours rules on the claims of agents elsewhere. */
  readonly judges?: () => boolean
}

/** The workspaces of this process, and what checks may do in them. */
export function workspacesFor(
  { workspace, sandbox, usesSandbox, data, environment, judges }: WorkspaceOptions,
  settings: CheckSettings,
  redact: Redactor,
): LocalWorkspaces {
  const problem = wrapperProblem(settings, environment)
  if (problem !== undefined) throw new CliError(problem)
  let known: string | undefined
  // Only where a workspace is used: it is kept in the user's configuration folder.
  const machine = (): string => (known ??= machineId(configFolder(environment)))
  const workspaces = workspace === undefined ? [] : [openedWorkspace(workspace, machine())]
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

/** The machine of the demo's sandbox, which belongs to its data folder. */
const SANDBOX = 'sandbox'

/** The sandbox needs a Node, and the one that runs us need not be on the PATH. */
const withOurNode = (environment: Environment): Environment => ({
  ...environment,
  PATH: [dirname(process.execPath), environment['PATH'] ?? ''].join(delimiter),
})

/** A folder in which checks may run. */
export function openedWorkspace(folder: string, machine: string): Workspace {
  const opened = openWorkspace(resolve(folder), machine)
  if (opened instanceof Obstacle) throw new CliError(`cannot use the workspace ${folder}: ${opened.reason}`)
  return opened
}
