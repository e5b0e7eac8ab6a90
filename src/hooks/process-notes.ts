import type { HookNote, HookNotes } from './notes.ts'

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
