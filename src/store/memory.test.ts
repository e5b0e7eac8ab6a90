import { storeContract } from './contract.ts'
import { openMemoryStore } from './memory.ts'

storeContract('memory', async () => {
  let skew = 0
  return {
    store: openMemoryStore({ skewMs: () => skew }),
    advance: ms => {
      skew += ms
    },
    dispose: async () => {},
  }
})
