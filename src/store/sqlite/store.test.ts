import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { subjectOn } from '../../../test/support/store-subject.ts'
import { storeContract } from '../contract.ts'
import { openSqliteStore } from './store.ts'

storeContract('sqlite', () => {
  const folder = scratchFolder()
  return subjectOn(
    skewMs => openSqliteStore({ path: join(folder, 'runsheet.db'), skewMs }),
    () => rmSync(folder, { recursive: true }),
  )
})
