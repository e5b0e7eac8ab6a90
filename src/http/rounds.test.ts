import { expect, it } from 'vitest'
import { Rounds } from './rounds.ts'

/** The order in which requests of agents, that keep the event loop for so long each, and something else are done. */
async function order(workMs: number): Promise<string[]> {
  const rounds = new Rounds()
  const done: string[] = []
  const request = async (name: string): Promise<void> => {
    await rounds.turn()
    const until = performance.now() + workMs
    while (performance.now() < until);
    done.push(name)
  }
  const other = async (): Promise<void> => {
    await new Promise(setImmediate)
    done.push('other')
  }
  await Promise.all([...['a', 'b', 'c'].map(request), other()])
  return done
}

it('[AU13] after long work the other agents wait, one for each round of the event loop, in order', async () => {
  expect(await order(10)).toEqual(['a', 'other', 'b', 'c'])
})

it('[AU13] short work is done in one round', async () => {
  expect(await order(0)).toEqual(['a', 'b', 'c', 'other'])
})
