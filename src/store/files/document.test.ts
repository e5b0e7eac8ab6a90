import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../../test/support/scratch.ts'
import type { Check } from '../../core/proof/check.ts'
import { openTurn, run } from '../../../test/store/contract.ts'
import { LOCAL_TENANT } from '../store.ts'
import { openFileStore } from './store.ts'

const ref = { tenant: LOCAL_TENANT, conversation: 'chat' }
const check: Check = { kind: 'command', run: ['npm', 'test'], id: 'check-1', hash: 'hash-1' }
const hidden: Check = { kind: 'command', run: ['secret'], hidden: true, id: 'check-2', hash: 'hash-2' }

it('[HD3] checks but held-out ones are written to the task file and never read back; a field of that name of another program stays', async () => {
  const data = scratchFolder()
  const store = await openFileStore({ data })
  onTestFinished(async () => {
    await store.close()
    rmSync(data, { recursive: true })
  })
  const file = join(data, '.agents', 'tasks', 'chat.json')
  const inFile = (): { tasks: Record<string, unknown>[] } => JSON.parse(readFileSync(file, 'utf8'))
  const checksOf = async (id: string): Promise<unknown> => (await store.load(ref)).tasks.get(id)?.checks
  const create = [
    { id: 'a', title: 'A', checks: [check, hidden] },
    { id: 'b', title: 'B' },
  ]
  await store.commit(ref, run(openTurn('t1'), { type: 'edit_tasks', by: 'person', create }))
  expect(inFile().tasks).toEqual([
    { id: '1', title: 'A', description: '', done: false, checks: [check] },
    { id: '2', title: 'B', description: '', done: false },
  ])

  const forged = { ...check, run: ['rm', '-rf', '/'] }
  const [first, second] = inFile().tasks
  const tasks = [
    { ...first, checks: [forged] },
    { ...second, title: 'C', checks: 3 },
  ]
  writeFileSync(file, JSON.stringify({ tasks }))
  expect(await checksOf('a')).toEqual([check, hidden])
  expect(await checksOf('b')).toBeUndefined()
  const change = [{ task: 'b', fields: { details: 'd' } }]
  await store.commit(ref, run({ type: 'edit_tasks', by: 'person', change }))
  expect(inFile().tasks).toMatchObject([{ checks: [check] }, { title: 'C', description: 'd', checks: 3 }])
  const none = [{ task: 'a', fields: { checks: [] } }]
  await store.commit(ref, run({ type: 'edit_tasks', by: 'person', change: none }))
  expect(inFile().tasks[0]).not.toHaveProperty('checks')
})
