import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { note, openTurn, run } from '../store/contract.ts'
import { openFileStore } from '../../src/store/files/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Ref, Store } from '../../src/store/store.ts'
import { fault } from '../support/faults.ts'
import { wholeLog } from '../support/ledger.ts'
import { smallDisk, whyNoMounts } from '../support/mounts.ts'
import { scratchFolder } from '../support/scratch.ts'

const ref: Ref = { tenant: 'local', conversation: 'c1' }
const open = (kind: 'sqlite' | 'json', folder: string): Promise<Store> =>
  kind === 'sqlite' ? openSqliteStore({ path: join(folder, 'runsheet.db') }) : openFileStore({ data: folder })

fault('a disk that is full or read-only')

describe.each(['sqlite', 'json'] as const)('%s on a disk', kind => {
  it('that is full: refuses clearly, leaves nothing half-written, and works again once there is room', async ({
    skip,
  }) => {
    if (whyNoMounts) return skip(whyNoMounts)
    const disk = smallDisk(3)
    try {
      const store = await open(kind, disk.folder)
      await store.commit(ref, run(openTurn('t1')))
      let written = 2
      const two = 'x'.repeat(2_000)
      let refusal: unknown
      try {
        for (;;) {
          await store.commit(ref, () => ({ events: [note(two), note(two)], value: null }))
          written += 2
        }
      } catch (error) {
        refusal = error
      }
      expect(refusal).toMatchObject({
        name: 'StoreError',
        code: 'full',
        message: 'The disk is full; nothing was written.',
      })
      expect(await wholeLog(store, ref)).toHaveLength(written)
      await expect(
        store.commit(ref, () => ({ events: [note('x'.repeat(200_000))], value: null })),
      ).rejects.toMatchObject({ code: 'full' })
      disk.remount('size=30m')
      await store.commit(ref, () => ({ events: [note('there is room again')], value: null }))
      expect(await wholeLog(store, ref)).toHaveLength(written + 1)
      await store.close()
      const again = await open(kind, disk.folder)
      expect((await again.load(ref)).seq).toBe(written + 1)
      await again.close()
    } finally {
      disk.remove()
    }
  })

  it('that is read-only: says so at once, with the place', async ({ skip }) => {
    const place = readOnlyPlace()
    if (typeof place === 'string') return skip(place)
    try {
      const opening = open(kind, join(place.folder, 'data'))
      await expect(opening).rejects.toMatchObject({
        name: 'StoreError',
        code: 'readonly',
        message: expect.stringContaining(place.folder),
      })
    } finally {
      place.remove()
    }
  })

  it('that has become read-only: says so at once', async ({ skip }) => {
    if (whyNoMounts) return skip(whyNoMounts)
    const disk = smallDisk(5)
    try {
      const store = await open(kind, disk.folder)
      await store.commit(ref, run(openTurn('t1')))
      await store.close()
      disk.remount('ro')
      const reopened = open(kind, disk.folder)
      await expect(reopened).rejects.toMatchObject({ name: 'StoreError', code: 'readonly' })
    } finally {
      disk.remove()
    }
  })
})

it('a file that finds no room turns the call down before anything is committed, and the old file stays', async ({
  skip,
}) => {
  if (whyNoMounts) return skip(whyNoMounts)
  const disk = smallDisk(4)
  try {
    const store = await openFileStore({ data: disk.folder })
    const create = (title: string, details: string) =>
      store.commit(
        ref,
        run(openTurn('t1'), {
          type: 'edit_tasks',
          by: 'model',
          turn_id: 't1',
          create: [{ id: crypto.randomUUID(), title, details }],
        }),
      )
    await create('first', '')
    const file = join(disk.folder, '.agents', 'tasks', 'c1.json')
    const before = readFileSync(file, 'utf8')
    const { seq } = await store.load(ref)
    // All but a few blocks: the database has room in its log for a small commit, a large file has none.
    writeFileSync(join(disk.folder, 'ballast'), Buffer.alloc(0))
    fill(join(disk.folder, 'ballast'))
    await expect(create('second', 'x'.repeat(8_000))).rejects.toMatchObject({ code: 'full' })
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(readdirSync(join(disk.folder, '.agents', 'tasks'))).toEqual(['c1.json'])
    expect((await store.load(ref)).seq).toBe(seq)
    rmSync(join(disk.folder, 'ballast'))
    await create('third', '')
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ tasks: [{ title: 'first' }, { title: 'third' }] })
    await store.close()
  } finally {
    disk.remove()
  }
})

/** Takes all the room that there is. */
function fill(path: string): void {
  for (const size of [65_536, 4_096]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}

function readOnlyPlace(): { folder: string; remove: () => void } | string {
  // Permissions do not hold root back: it needs a file system that is read-only.
  if (process.getuid?.() === 0) {
    if (whyNoMounts) return whyNoMounts
    const disk = smallDisk(1)
    disk.remount('ro')
    return disk
  }
  if (process.platform === 'win32') return 'needs a file system with permissions'
  const folder = scratchFolder()
  const locked = join(folder, 'locked')
  mkdirSync(locked)
  chmodSync(locked, 0o500)
  return { folder: locked, remove: () => (chmodSync(locked, 0o700), rmSync(folder, { recursive: true })) }
}
