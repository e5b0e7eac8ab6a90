import { writeSync } from 'node:fs'
import type { NewEvent } from '../../src/core/model/event.ts'
import type { At, Committed, Door, Transaction } from '../../src/engine/door/door.ts'

/** Where a process ends or freezes: before or after a commit with events. */
export interface EndAt {
  readonly when: 'before' | 'after'
  /** Of those that it makes, or of those with these event types. */
  readonly nth: number
  readonly line?: string
  readonly signal: 'SIGKILL' | 'SIGSTOP'
}

/** Prints the commit first, so that a test knows where the process ended. */
export function endingAt(door: Door, { when, nth, line, signal }: EndAt): void {
  let count = 0
  const reached = (events: readonly NewEvent[]): void => {
    const types = events.map(({ type }) => type).join(' ')
    if (events.length === 0 || (line !== undefined && types !== line)) return
    count += 1
    if (count === nth) freeze(types, signal)
  }
  aroundCommits(door, async (commit, work) => {
    const committed = await commit(transaction => {
      const value = work(transaction)
      if (when === 'before') reached(transaction.events)
      return value
    })
    // Later, since a process that freezes with SQLite's lock would block all others.
    if (when === 'after' && signal === 'SIGSTOP') await new Promise(resolve => setTimeout(resolve, 5))
    if (when === 'after') reached(committed.events)
    return committed
  })
}

type Transact = <T>(this: Door, at: At, work: Work<T>) => Promise<Committed<T>>
type Work<T> = (transaction: Transaction) => T

/** Wraps the commits of a door and of those for other origins, but not of other stores' doors. The function undoes it. */
export function aroundCommits(
  door: Door,
  wrap: <T>(commit: (work: Work<T>) => Promise<Committed<T>>, work: Work<T>) => Promise<Committed<T>>,
): () => void {
  const doors = Object.getPrototypeOf(door) as { transact: Transact }
  const { transact } = doors
  doors.transact = function <T>(this: Door, at: At, work: Work<T>): Promise<Committed<T>> {
    // Tests in the same process have doors of their own.
    if (this.turns !== door.turns) return transact.call(this, at, work) as Promise<Committed<T>>
    return wrap<T>(wrapped => transact.call(this, at, wrapped) as Promise<Committed<T>>, work)
  }
  return () => {
    doors.transact = transact
  }
}

export function freeze(line: string, signal: NodeJS.Signals): void {
  writeSync(1, `at ${line}\n`)
  process.kill(process.pid, signal)
  // A signal takes a moment: nothing may start meanwhile, above all no lock.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
}
