import { AsyncLocalStorage } from 'node:async_hooks'
import { aroundEach, onTestFinished } from 'vitest'

const ends = new AsyncLocalStorage<typeof onTestFinished>()

/** Lets `atTestEnd` tell the tests of this describe apart while they run at the same time. */
export function tellTestsApart(): void {
  aroundEach((runTest, context) => ends.run(context.onTestFinished, runTest))
}

/** `onTestFinished`, which by itself does not know which of several concurrent tests called it. */
export const atTestEnd = (work: () => unknown): void =>
  (ends.getStore() ?? onTestFinished)(async () => void (await work()))
