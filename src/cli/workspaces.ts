import { resolve } from 'node:path'
import { v7 } from 'uuid'
import { Obstacle } from '../checks/obstacle.ts'
import { machineId, openWorkspace } from '../checks/workspace.ts'
import type { Workspace } from '../domain/check.ts'
import type { Redactor } from '../domain/redact.ts'
import { LocalWorkspaces } from '../runner/local-workspaces.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { configFolder } from './config-folder.ts'
import type { CheckSettings } from './settings-file.ts'

export interface WorkspaceOptions {
  /** `--workspace`, or the sandbox of the demo. */
  readonly workspace?: string | undefined
  readonly data: string
  readonly environment: Environment
  /** Whether a judge of ours rules on the claims of agents elsewhere. */
  readonly judges?: () => boolean
}

/** The workspaces of this process, and what checks may do in them. */
export function workspacesFor(
  { workspace, data, environment, judges }: WorkspaceOptions,
  settings: CheckSettings,
  redact: Redactor,
): LocalWorkspaces {
  const machine = machineId(configFolder(environment))
  const workspaces = workspace === undefined ? [] : [openedWorkspace(workspace, machine)]
  return new LocalWorkspaces({
    ...settings,
    workspaces,
    machine,
    environment,
    dataFolder: resolve(data),
    redact,
    newId: v7,
    ...(judges ? { judges } : {}),
  })
}

/** A folder in which checks may run. */
export function openedWorkspace(folder: string, machine: string): Workspace {
  const opened = openWorkspace(resolve(folder), machine)
  if (opened instanceof Obstacle) throw new CliError(`cannot use the workspace ${folder}: ${opened.reason}`)
  return opened
}
