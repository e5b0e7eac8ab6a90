import type { Workspace } from '../domain/check.ts'

/** Where checks run, and how. */
export interface Place {
  readonly workspace: Workspace
  /** Put in front of every command, say a sandbox. */
  readonly wrap: readonly string[]
  /** The whole environment of a check; its PATH finds programs. */
  readonly env: Readonly<Record<string, string>>
}
