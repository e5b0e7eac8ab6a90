import { rmSync } from 'node:fs'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { storeContract } from '../contract.ts'
import { openFileStore } from './store.ts'

storeContract('json files', async () => {
  let skew = 0
  const data = scratchFolder()
  const open = () => openFileStore({ data, skewMs: () => skew })
  return {
    store: await open(),
    another: open,
    reopen: open,
    advance: ms => {
      skew += ms
    },
    dispose: async () => rmSync(data, { recursive: true }),
  }
})
