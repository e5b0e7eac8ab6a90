const MAX_CHARACTERS = 512 * 1024

/** A cache of the newest frames, for readers that resume after a short break. */
export class Recent {
  readonly #frames: string[] = []
  #first = 0
  #size = 0

  add(seq: number, frame: string): void {
    if (this.#frames.length === 0 || seq !== this.#first + this.#frames.length) {
      this.#frames.length = 0
      this.#size = 0
      this.#first = seq
    }
    this.#frames.push(frame)
    this.#size += frame.length
    while (this.#size > MAX_CHARACTERS) {
      this.#size -= this.#frames.shift()?.length ?? 0
      this.#first += 1
    }
  }

  /** Returns the frames after `after` up to `upTo`, if all are cached. */
  between(after: number, upTo: number): { readonly frames: string; readonly seq: number } | undefined {
    const from = after + 1 - this.#first
    const to = upTo + 1 - this.#first
    if (from < 0 || to > this.#frames.length || from >= to) return undefined
    return { frames: this.#frames.slice(from, to).join(''), seq: upTo }
  }
}
