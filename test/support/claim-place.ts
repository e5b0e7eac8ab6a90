import { v7 } from 'uuid'
import { redactor } from '../../src/core/text/redact.ts'
import { LocalWorkspaces } from '../../src/checks/local-workspaces.ts'

/** Where the checks of a scene run, and which it allows without asking. */
export interface Place {
  readonly machine: string
  /** Absent: a process without a workspace. */
  readonly workspace?: string
  readonly data: string
  readonly allow: readonly (readonly string[])[]
  /** What all processes of its checks have in their environment. */
  readonly mark: string
}

/** The policy of its conversations. */
export const HOST = { review: false, assessor: false } as const

/** The same in every process of a scene. */
export const workspacesIn = ({ machine, workspace, data, allow, mark }: Place): LocalWorkspaces =>
  new LocalWorkspaces({
    workspaces: workspace === undefined ? [] : [{ machine, path: workspace }],
    machine: () => machine,
    environment: process.env,
    dataFolder: data,
    redact: redactor(),
    newId: v7,
    allow,
    env: { RUNSHEET_TEST_MARK: mark },
  })
