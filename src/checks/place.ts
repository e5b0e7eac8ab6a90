import type { Workspace } from '../domain/check.ts'

export interface Place {
  readonly workspace: Workspace
  /** Prefix of every command, such as a sandbox. */
  readonly wrap: readonly string[]
  /** The entire environment of a check; its PATH finds programs. */
  readonly env: Readonly<Record<string, string>>
  /** The folder with the files of held-out checks. */
  readonly heldOut?: string | undefined
}
