import { describe, expect, it } from 'vitest'
import { type Changed, TaskHistory } from './task-changes.ts'

/** A history over a server that gives each change of a task the next version; `refuses` those that it does not take. */
function historyOf(refuses: (change: Changed) => boolean = () => false) {
  const taken: string[] = []
  let version = 10
  let renders = 0
  const history = new TaskHistory(() => (renders += 1))
  const take = async (change: Changed): Promise<Changed | undefined> => {
    taken.push(`${change.id}@${change.version}`)
    return refuses(change) ? undefined : { id: change.id, version: (version += 1) }
  }
  return { history, take, taken, renders: () => renders }
}

const made = (id: string, version: number): Promise<Changed> => Promise.resolve({ id, version })

describe('the changes of a window', () => {
  it('[PA30] are undone newest first, and made again in order', async () => {
    const { history, take, taken } = historyOf()
    expect([history.undo(take), history.redo(take)]).toEqual([undefined, undefined])
    history.changing(made('a', 2))
    history.changing(made('b', 5))
    expect([history.canUndo, history.canRedo]).toEqual([true, false])
    expect([await history.undo(take), await history.undo(take)]).toEqual([true, true])
    expect([history.canUndo, history.canRedo]).toEqual([false, true])
    // Each is made again by taking back what took it back.
    expect([await history.redo(take), await history.redo(take)]).toEqual([true, true])
    expect(taken).toEqual(['b@5', 'a@2', 'a@12', 'b@11'])
    expect(await history.undo(take)).toBe(true)
    expect(taken.at(-1)).toBe('b@14')
  })

  it('[PA30] a new one ends what could be made again', async () => {
    const { history, take } = historyOf()
    history.changing(made('a', 2))
    await history.undo(take)
    history.changing(made('b', 3))
    expect([history.canUndo, history.canRedo]).toEqual([true, false])
  })

  it('[PA30] pressed twice before the first is through, two are undone', async () => {
    const { history, take, taken } = historyOf()
    history.changing(made('a', 2))
    history.changing(made('b', 3))
    const [first, second, third] = [history.undo(take), history.undo(take), history.undo(take)]
    expect([await first, await second, third]).toEqual([true, true, undefined])
    expect(taken.toSorted()).toEqual(['a@2', 'b@3'])
  })

  it('[PA30] what the server refused, or nobody made, is forgotten', async () => {
    const { history, take, taken, renders } = historyOf(({ id }) => id === 'b')
    history.changing(made('a', 2))
    history.changing(Promise.resolve(undefined))
    history.changing(made('b', 3))
    await Promise.resolve()
    expect(await history.undo(take)).toBe(false)
    expect([history.canUndo, history.canRedo]).toEqual([true, false])
    expect(await history.undo(take)).toBe(true)
    expect(taken).toEqual(['b@3', 'a@2'])
    expect(renders()).toBeGreaterThan(4)
  })
})
