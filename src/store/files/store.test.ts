import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { needInFile, subjectOn } from '../../../test/support/store-subject.ts'
import { fullContract } from '../../../test/store/contract.ts'
import { leaseContract, type LeaseSubject } from '../../../test/store/lease-contract.ts'
import type { FullStore } from '../store.ts'
import { openFileStore } from './store.ts'

async function subject(): Promise<LeaseSubject<FullStore>> {
  const data = scratchFolder()
  const opened = await subjectOn(
    skewMs => openFileStore({ data, skewMs }),
    () => rmSync(data, { recursive: true }),
  )
  return { ...opened, need: needInFile(join(data, 'runsheet.db')) }
}

fullContract('json files', subject)
leaseContract('json files', subject)
