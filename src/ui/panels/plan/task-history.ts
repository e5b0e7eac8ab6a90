export interface Changed {
  readonly id: string
  readonly version: number
}

/** A change in flight; resolves to undefined if the server refuses it. */
type Sent = Promise<Changed | undefined>

/** Undoes a change on the server. The undo is itself a change that can be undone. */
export type Take = (change: Changed) => Sent

/** The undo and redo stacks of this window's task changes, newest last. */
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

  /** Records a change and clears the redo stack. */
  changing(sent: Sent): void {
    this.#set([...this.#done, sent], [])
    this.#forgetIfRefused(sent)
  }

  /** Undoes the last change. Undefined if there is none, else resolves to whether the server accepted it. */
  undo(take: Take): Promise<boolean> | undefined {
    const sent = this.#again(this.#done.at(-1), take)
    if (sent) this.#set(this.#done.slice(0, -1), [...this.#undone, sent])
    return sent?.then(Boolean)
  }

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
