const MAX_CHARACTERS = 512 * 1024

/** The newest frames, so that readers who resume after a short interruption need no read of the log. */
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

  /** The frames after `after` up to `upTo`, if all of them are here. */
  between(after: number, upTo: number): { readonly frames: string; readonly seq: number } | undefined {
    const from = after + 1 - this.#first
    const to = upTo + 1 - this.#first
    if (from < 0 || to > this.#frames.length || from >= to) return undefined
    return { frames: this.#frames.slice(from, to).join(''), seq: upTo }
  }
}
