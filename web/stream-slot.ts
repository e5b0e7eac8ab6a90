/** Streams that this browser opens at once, over all its windows. Windows without one poll. */
const SLOTS = [1, 2, 3, 4]

/** Reserves one stream; resolves to its release, or to undefined when all are taken. A closed window frees its own. */
export async function streamSlot(): Promise<(() => void) | undefined> {
  // Pages over plain HTTP from another machine have no locks: each window opens its own stream.
  if (!('locks' in navigator)) return () => {}
  for (const slot of SLOTS) {
    const release = await tryLock(`runsheet-stream-${slot}`)
    if (release) return release
  }
  return undefined
}

function tryLock(name: string): Promise<(() => void) | undefined> {
  return new Promise(resolve => {
    void navigator.locks.request(name, { ifAvailable: true }, lock => {
      if (!lock) return resolve(undefined)
      return new Promise<void>(release => resolve(() => release()))
    })
  })
}
