import { subjectOn } from '../../test/support/store-subject.ts'
import { storeContract } from '../../test/store/contract.ts'
import { leaseContract, type LeaseSubject } from '../../test/store/lease-contract.ts'
import { type Entry, openMemoryStore } from './memory.ts'
import { refKey } from './store.ts'

async function subject(): Promise<LeaseSubject> {
  const entries = new Map<string, Entry>()
  // Nothing outlives a store in memory: no second handle, and nothing to open again.
  const { store, advance, dispose } = await subjectOn(
    async skewMs => openMemoryStore({ skewMs, entries }),
    () => {},
  )
  const need: LeaseSubject['need'] = async (at, needs) => {
    const turns = entries.get(refKey(at))?.turns
    const row = turns?.get(at.turn)
    if (row) turns?.set(at.turn, { ...row, needs })
  }
  return { store, advance, dispose, need }
}

storeContract('memory', subject)
leaseContract('memory', subject)
