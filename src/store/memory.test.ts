import { subjectOn } from '../../test/support/store-subject.ts'
import { storeContract } from '../../test/store/contract.ts'
import { leaseContract, type LeaseSubject } from '../../test/store/lease-contract.ts'
import { openMemoryStore, type Turn, turnKey } from './memory.ts'

async function subject(): Promise<LeaseSubject> {
  const turns = new Map<string, Turn>()
  // Nothing outlives a store in memory: no second handle, and nothing to open again.
  const { store, advance, dispose } = await subjectOn(
    async skewMs => openMemoryStore({ skewMs, turns }),
    () => {},
  )
  const need: LeaseSubject['need'] = async (at, needs) => {
    const row = turns.get(turnKey(at, at.turn))
    if (row) turns.set(turnKey(at, at.turn), { ...row, needs })
  }
  return { store, advance, dispose, need }
}

storeContract('memory', subject)
leaseContract('memory', subject)
