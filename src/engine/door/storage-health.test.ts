import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { StoreError } from '../../store/store-error.ts'
import { StorageHealth, type StorageReport } from './storage-health.ts'

let broken: StoreError | undefined
let probes: boolean[]
let health: StorageHealth
let reports: StorageReport[]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.advanceTimersByTime(10_000)
  broken = undefined
  probes = []
  reports = []
  health = new StorageHealth({
    place: 'runsheet.db',
    probe: async ({ room }) => {
      probes.push(room)
      if (broken) throw broken
    },
  })
  health.observe(report => reports.push(report))
})
afterEach(() => void vi.useRealTimers())

const full = (): StoreError => new StoreError('full', 'The disk is full.', { cause: new Error('ENOSPC') })
const kinds = (): string[] => reports.map(({ kind, error }) => `${kind} ${error.code}`)

it('a failure that repeats is reported once, another one by itself', () => {
  for (let times = 0; times < 5; times += 1) health.failed(full())
  health.failed(new StoreError('io', 'It cannot be read.', { cause: 'a bad sector' }))
  expect(reports).toEqual([
    { kind: 'failed', error: expect.objectContaining({ code: 'full' }), file: 'runsheet.db' },
    { kind: 'failed', error: expect.objectContaining({ code: 'io' }), file: 'runsheet.db' },
  ])
})

it('once storage works again that is reported, and the next failure as well', async () => {
  health.failed(full())
  health.failed(full())
  vi.advanceTimersByTime(3_000)
  await health.ready()
  health.failed(full())
  expect(kinds()).toEqual(['failed full', 'recovered full', 'failed full'])
  expect(reports[1]).toMatchObject({ failures: 2, ms: 3_000 })
})

it('every call that failed counts, also those that failed together with one error', async () => {
  const together = full()
  for (let times = 0; times < 3; times += 1) health.failed(together)
  await health.ready()
  expect(reports.at(-1)).toMatchObject({ kind: 'recovered', failures: 3 })
})

it('one cause is one report, whichever call words it how', () => {
  health.failed(new StoreError('io', 'The database did not answer in time.'))
  health.failed(new StoreError('io', 'The database could not be reached.', { cause: new Error('ECONNREFUSED') }))
  expect(kinds()).toEqual(['failed io'])
})

it('errors of the caller, and a store that was closed, are no failures of storage', () => {
  for (const code of ['key_conflict', 'fenced', 'id_taken', 'closed'] as const) health.failed(new StoreError(code, ''))
  health.failed(new TypeError('a bug'))
  expect(reports).toEqual([])
})

it('an observer that throws fails nothing', () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  health.observe(() => {
    throw new Error('the log is gone')
  })
  health.failed(full())
  expect(kinds()).toEqual(['failed full'])
  expect(warned).toHaveBeenCalledOnce()
  warned.mockRestore()
})

it('[HT26] not ready while a probe fails, with its reason; ready again with the first that works', async () => {
  broken = full()
  await expect(health.ready()).rejects.toBe(broken)
  broken = full()
  await expect(health.ready()).rejects.toBe(broken)
  broken = undefined
  await health.ready()
  expect(kinds()).toEqual(['failed full', 'recovered full'])
})

it('[HT26] after a full disk the probe asks for room', async () => {
  await health.ready()
  health.failed(full())
  await health.ready()
  expect(probes).toEqual([false, true])
})

it('[HT26] while all is well there is one probe a second, however many ask', async () => {
  await Promise.all([health.ready(), health.ready(), health.ready()])
  await health.ready()
  expect(probes).toHaveLength(1)
  vi.advanceTimersByTime(1_000)
  await health.ready()
  expect(probes).toHaveLength(2)
})

it('[HT26] calls that work while storage fails have it probed, at most once a second', async () => {
  health.worked()
  expect(probes).toHaveLength(0)
  broken = full()
  health.failed(full())
  health.worked()
  await turn()
  health.worked()
  expect(probes).toHaveLength(1)
  broken = undefined
  vi.advanceTimersByTime(1_000)
  health.worked()
  await turn()
  expect(kinds()).toEqual(['failed full', 'recovered full'])
})

it('[HT26] a failure during the probe keeps it from ending the failure', async () => {
  health.failed(full())
  const asked = health.ready()
  health.failed(full())
  await asked
  expect(kinds()).toEqual(['failed full'])
})

it.each(['corrupt', 'newer', 'replaced'] as const)('[HT26] %s is final: no probe makes it ready again', async code => {
  const final = new StoreError(code, 'It is not what it was.')
  health.failed(final)
  health.failed(full())
  health.worked()
  await expect(health.ready()).rejects.toBe(final)
  expect(probes).toEqual([])
})

it('[HT26] one broken or too large task file is reported, and storage is still ready', async () => {
  const invalid = new StoreError('file_invalid', 'Task file is corrupt or invalid.', { file: '.agents/tasks/c1.json' })
  health.failed(invalid)
  health.failed(invalid)
  health.failed(new StoreError('full', 'The task file would have more than 8 MB.'))
  await health.ready()
  expect(kinds()).toEqual(['failed file_invalid', 'failed full'])
})
