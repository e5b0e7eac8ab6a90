/** A version of a task that a person's change led to. */
export interface Changed {
  readonly id: string
  readonly version: number
}

/** A change on its way; undefined where the server refused it. */
type Sent = Promise<Changed | undefined>

/** Takes a change back on the server, which is a change that can be taken back in turn. */
export type Take = (change: Changed) => Sent

/** The changes that a person made to tasks in this window, and those that were taken back, newest last. */
export class TaskHistory {
  readonly #onChange: () => void
  #done: readonly Sent[] = []
  #undone: readonly Sent[] = []

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get canUndo(): boolean {
    return this.#done.length > 0
  }

  get canRedo(): boolean {
    return this.#undone.length > 0
  }

  /** Notes a change. What was taken back before cannot be made again after it. */
  changing(sent: Sent): void {
    this.#set([...this.#done, sent], [])
    this.#forgetIfRefused(sent)
  }

  /** Takes back the last change; undefined where there is none, else whether the server did. */
  undo(take: Take): Promise<boolean> | undefined {
    const sent = this.#again(this.#done.at(-1), take)
    if (sent) this.#set(this.#done.slice(0, -1), [...this.#undone, sent])
    return sent?.then(Boolean)
  }

  /** Makes the change again that was taken back last. */
  redo(take: Take): Promise<boolean> | undefined {
    const sent = this.#again(this.#undone.at(-1), take)
    if (sent) this.#set([...this.#done, sent], this.#undone.slice(0, -1))
    return sent?.then(Boolean)
  }

  #again(last: Sent | undefined, take: Take): Sent | undefined {
    const sent = last?.then(change => change && take(change))
    if (sent) this.#forgetIfRefused(sent)
    return sent
  }

  #forgetIfRefused(sent: Sent): void {
    const others = (all: readonly Sent[]): readonly Sent[] => all.filter(each => each !== sent)
    void sent.then(change => change ?? this.#set(others(this.#done), others(this.#undone)))
  }

  #set(done: readonly Sent[], undone: readonly Sent[]): void {
    this.#done = done
    this.#undone = undone
    this.#onChange()
  }
}
