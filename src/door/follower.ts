import type { Commit } from '../store/commit.ts'

/** Events buffered for a slow follower; beyond that it reads the log again itself. */
const MAX_BUFFERED = 2_000

export abstract class Member {
  #wake = Promise.withResolvers<void>()

  wake(): void {
    this.#wake.resolve()
  }

  async woken(): Promise<void> {
    await this.#wake.promise
    this.#wake = Promise.withResolvers<void>()
  }

  offer(_commits: readonly Commit[]): void {}
  textChanged(): void {}
}

export class TextFollower extends Member {
  override textChanged(): void {
    this.wake()
  }
}

/** Follows the log of a conversation. It tracks its own position, so no commit is missed or repeated. */
export class Follower extends Member {
  seq: number
  #buffer: Commit[] = []
  #buffered = 0

  constructor(seq: number) {
    super()
    this.seq = seq
  }

  override offer(commits: readonly Commit[]): void {
    const size = commits.reduce((sum, { events }) => sum + events.length, 0)
    if (this.#buffered + size > MAX_BUFFERED) this.#clear()
    else {
      this.#buffer.push(...commits)
      this.#buffered += size
    }
    this.wake()
  }

  take(): readonly Commit[] {
    const fresh = this.#buffer.filter(({ seq }) => seq > this.seq)
    this.#clear()
    if (fresh[0]?.events[0]?.seq !== this.seq + 1) return []
    this.seq = fresh.at(-1)?.seq ?? this.seq
    return fresh
  }

  #clear(): void {
    this.#buffer = []
    this.#buffered = 0
  }
}
