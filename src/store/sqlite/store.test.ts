import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { storeContract } from '../contract.ts'
import { openSqliteStore } from './store.ts'

storeContract('sqlite', async () => {
  let skew = 0
  const folder = scratchFolder()
  const open = () => openSqliteStore({ path: join(folder, 'runsheet.db'), skewMs: () => skew })
  return {
    store: await open(),
    another: open,
    reopen: open,
    advance: ms => {
      skew += ms
    },
    dispose: async () => rmSync(folder, { recursive: true }),
  }
})
