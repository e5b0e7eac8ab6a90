import { beforeEach, expect, it } from 'vitest'
import { Rounds } from './rounds.ts'

/** The clock, which only work moves. */
let now: number
beforeEach(() => {
  now = 0
})
const newRounds = (): Rounds => new Rounds(() => now)

/** The order in which requests of agents, that keep the event loop for so long each, and something else are done. */
async function order(workMs: number): Promise<string[]> {
  const rounds = newRounds()
  const done: string[] = []
  const request = async (name: string): Promise<void> => {
    await rounds.turn()
    busy(workMs)
    done.push(name)
  }
  const other = async (): Promise<void> => {
    await new Promise(setImmediate)
    done.push('other')
  }
  await Promise.all([...['a', 'b', 'c'].map(request), other()])
  return done
}

it('after long work the other agents wait, one for each round of the event loop, in order', async () => {
  expect(await order(30)).toEqual(['a', 'other', 'b', 'c'])
})

it('short work is done in one round', async () => {
  expect(await order(0)).toEqual(['a', 'b', 'c', 'other'])
})

/** How often the event loop goes round, with others who keep it for so long each time, until the work is done. */
async function roundsUntil(work: Promise<unknown>, othersMs = 0): Promise<number> {
  const over = new AbortController()
  void work.then(() => over.abort())
  let passed = 0
  for (; !over.signal.aborted; passed += 1) {
    await new Promise(setImmediate)
    busy(othersMs)
  }
  return passed
}

const turns = (rounds: Rounds, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, () => rounds.turn()))

it('where others keep the event loop, agents wait for 100 ms at a time, not for 32 of its rounds', async () => {
  const rounds = newRounds()
  const work = turns(rounds, 10).then(() => turns(rounds, 10))
  expect(await roundsUntil(work, 30)).toBeLessThan(32)
})

it('what waited through a pause is done together, as far as there is time', async () => {
  const rounds = newRounds()
  await rounds.turn()
  busy(30)
  // The pause, and a few rounds around it.
  expect(await roundsUntil(turns(rounds, 100))).toBeLessThan(50)
})

function busy(ms: number): void {
  now += ms
}
