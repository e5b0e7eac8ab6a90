import { subjectOn } from '../../test/support/store-subject.ts'
import { storeContract } from './contract.ts'
import { openMemoryStore } from './memory.ts'

storeContract('memory', async () => {
  // A store in memory has no second handle and cannot be reopened.
  const { store, advance, dispose } = await subjectOn(
    async skewMs => openMemoryStore({ skewMs }),
    () => {},
  )
  return { store, advance, dispose }
})
