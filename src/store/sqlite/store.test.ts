import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { needInFile, subjectOn } from '../../../test/support/store-subject.ts'
import { fullContract } from '../../../test/store/contract.ts'
import { leaseContract, type LeaseSubject } from '../../../test/store/lease-contract.ts'
import type { FullStore } from '../store.ts'
import { openSqliteStore } from './store.ts'

async function subject(): Promise<LeaseSubject<FullStore>> {
  const folder = scratchFolder()
  const path = join(folder, 'runsheet.db')
  const opened = await subjectOn(
    skewMs => openSqliteStore({ path, skewMs }),
    () => rmSync(folder, { recursive: true }),
  )
  return { ...opened, need: needInFile(path) }
}

fullContract('sqlite', subject)
leaseContract('sqlite', subject)
