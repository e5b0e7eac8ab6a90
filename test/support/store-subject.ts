import type { Subject } from '../../src/store/contract.ts'
import type { Store } from '../../src/store/store.ts'

/** For tests: a store on data of its own, which can be opened again, with a clock that the test moves ahead. */
export async function subjectOn(
  open: (skewMs: () => number) => Promise<Store>,
  dispose: () => Promise<void> | void,
): Promise<Subject> {
  let skew = 0
  const again = (): Promise<Store> => open(() => skew)
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
