/** What is known of a host's session between its events. */
export interface HookNote {
  readonly session: string
  /** The host's turn. */
  readonly turn?: string | undefined
  /** The head of the log when that turn began. */
  readonly since?: number | undefined
  /** The head of the log of the newest digest. */
  readonly told?: number | undefined
}

/** Where that is kept: in the process, in a file, or by the host's plugin. */
export interface HookNotes {
  read(session: string): HookNote
  write(note: HookNote): void
}
