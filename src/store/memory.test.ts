import { subjectOn } from '../../test/support/store-subject.ts'
import { storeContract } from './contract.ts'
import { openMemoryStore } from './memory.ts'

storeContract('memory', async () => {
  // Nothing outlives a store in memory: no second handle, and nothing to open again.
  const { store, advance, dispose } = await subjectOn(
    async skewMs => openMemoryStore({ skewMs }),
    () => {},
  )
  return { store, advance, dispose }
})
