import { DatabaseSync } from 'node:sqlite'
import type { Subject } from '../store/contract.ts'
import type { LeaseSubject } from '../store/lease-contract.ts'
import type { Store } from '../../src/store/store.ts'

/** For tests: a store on data of its own, which can be opened again, with a clock that the test moves ahead. */
export async function subjectOn<S extends Store>(
  open: (skewMs: () => number) => Promise<S>,
  dispose: () => Promise<void> | void,
): Promise<Subject<S>> {
  let skew = 0
  const again = (): Promise<S> => open(() => skew)
  return {
    store: await again(),
    another: again,
    reopen: again,
    advance: ms => {
      skew += ms
    },
    dispose: async () => dispose(),
  }
}

/** Makes turns in a SQLite database need something, behind the store's back. */
export const needInFile =
  (path: string): LeaseSubject['need'] =>
  async ({ tenant, conversation, turn }, need) => {
    const db = new DatabaseSync(path, { timeout: 5_000 })
    db.prepare('UPDATE turns SET needs = ? WHERE tenant = ? AND conversation = ? AND turn = ?').run(
      need,
      tenant,
      conversation,
      turn,
    )
    db.close()
  }
