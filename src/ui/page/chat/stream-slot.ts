/** Streams per browser, over all its windows. Windows without a slot poll. */
const SLOTS = [1, 2, 3, 4]

/** Resolves to the release function, or to undefined if all slots are taken. Closing a window frees its slot. */
export async function streamSlot(): Promise<(() => void) | undefined> {
  // Insecure origins have no locks: each window opens its own stream.
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
