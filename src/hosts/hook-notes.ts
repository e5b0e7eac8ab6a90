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

const MAX_SESSIONS = 100

export class ProcessNotes implements HookNotes {
  readonly #notes = new Map<string, HookNote>()

  read(session: string): HookNote {
    return this.#notes.get(session) ?? { session }
  }

  write(note: HookNote): void {
    this.#notes.delete(note.session)
    this.#notes.set(note.session, note)
    const [oldest] = this.#notes.keys()
    if (this.#notes.size > MAX_SESSIONS && oldest !== undefined) this.#notes.delete(oldest)
  }
}
