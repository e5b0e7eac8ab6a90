import { describe, expect, it } from 'vitest'
import { HeldLease } from './held-lease.ts'

const LEASE = { tenant: 'local', conversation: 'c1', turn: 't1', attempt: 1 }
const TTL = 6_000
const never = new AbortController().signal

/** A lease whose clocks and store the test controls. */
async function held(renew: (table: Table) => boolean | Promise<boolean> = () => true) {
  const table: Table = { monotonic: 0, wall: 1_000_000, renewals: 0 }
  const turns = {
    claim: async () => LEASE,
    served: async () => true,
    renew: async () => {
      table.renewals += 1
      return renew(table)
    },
    release: async () => {},
  }
  const lease = await HeldLease.claim(turns, 'r1', TTL, { abilities: ['drive'] }, () => ({ ...table }))
  if (!lease) throw new Error('not claimed')
  return { lease, table }
}
interface Table {
  monotonic: number
  wall: number
  renewals: number
}

describe('a lease, immediately before a side effect', () => {
  it('[TR36] that has more than half of its time left needs no renewal', async () => {
    const { lease, table } = await held()
    table.monotonic += TTL / 2
    table.wall += TTL / 2
    await lease.confirm(never)
    expect(table.renewals).toBe(0)
  })

  it.each(['monotonic', 'wall'] as const)('[TR36] is renewed if only the %s clock went on', async clock => {
    const { lease, table } = await held()
    table[clock] += TTL
    await lease.confirm(never)
    await lease.confirm(never)
    expect(table.renewals).toBe(1)
  })

  it('[TR36] a clock that is set back does not make it last longer', async () => {
    const { lease, table } = await held()
    table.monotonic += TTL
    table.wall -= 3_600_000
    await lease.confirm(never)
    expect(table.renewals).toBe(1)
  })

  it('[TR36] that another runner has taken is refused', async () => {
    const { lease, table } = await held(() => false)
    table.monotonic += TTL
    await expect(lease.confirm(never)).rejects.toMatchObject({ code: 'fenced' })
  })

  it('[TR36] a process that freezes while it renews renews again', async () => {
    const { lease, table } = await held(each => {
      if (each.renewals === 1) each.monotonic += TTL
      return each.renewals === 1
    })
    table.monotonic += TTL
    await expect(lease.confirm(never)).rejects.toMatchObject({ code: 'fenced' })
    expect(table.renewals).toBe(2)
  })

  it('[TR36] is not confirmed by a store that does not answer, nor after a stop', async () => {
    const broken = await held(() => Promise.reject(new Error('the disk is gone')))
    broken.table.monotonic += TTL
    await expect(broken.lease.confirm(never)).rejects.toThrow('the disk is gone')
    const { lease } = await held()
    await expect(lease.confirm(AbortSignal.abort(new Error('Stopped.')))).rejects.toThrow('Stopped.')
  })
})
