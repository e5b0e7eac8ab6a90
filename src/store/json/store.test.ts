import { rmSync } from 'node:fs'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { subjectOn } from '../../../test/support/store-subject.ts'
import { storeContract } from '../contract.ts'
import { openFileStore } from './store.ts'

storeContract('json files', () => {
  const data = scratchFolder()
  return subjectOn(
    skewMs => openFileStore({ data, skewMs }),
    () => rmSync(data, { recursive: true }),
  )
})
