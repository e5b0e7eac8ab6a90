export interface HookNote {
  readonly session: string
  readonly turn?: string | undefined
  /** The log's `seq` when that turn began. */
  readonly since?: number | undefined
  /** The log's `seq` at the newest digest. */
  readonly told?: number | undefined
}

export interface HookNotes {
  read(session: string): HookNote
  write(note: HookNote): void
}
