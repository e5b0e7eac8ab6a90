import { expect, it } from 'vitest'
import { outside } from '../../../../test/support/domain.ts'
import { createClient } from '../../../client/client.ts'
import type { PersonsFields } from '../../../core/views/wire.ts'
import { RunsheetError } from '../../../client/http.ts'
import type { Task } from '../../../core/model/task.ts'
import { changeTask } from './task-changes.ts'

function plan(): Task {
  const chat = outside()
  chat.run(chat.adds('model', 'A'))
  return chat.task(1)
}

/** A client whose server has a newer version of a task. */
function clientWith(newer: Task, sent: number[]) {
  const { checks: _checks, ...fieldsOf } = newer
  const changeNewer = async (_: string, __: string, version: number, fields: PersonsFields) => {
    sent.push(version)
    if (version === newer.version) return { task: { ...fieldsOf, version: version + 1, ...(fields as object) }, seq: 9 }
    throw new RunsheetError(412, { code: 'version_mismatch', message: 'It moved on.', task: newer })
  }
  return { ...createClient({ url: 'http://127.0.0.1:1' }), changeTask: changeNewer }
}

it('a task that moved on takes a change all the same', async () => {
  const task = plan()
  const sent: number[] = []
  const client = clientWith({ ...task, version: task.version + 3, status: 'completed' }, sent)
  expect(await changeTask(client, task, { title: 'B' })).toBe(task.version + 4)
  expect(sent).toEqual([task.version, task.version + 3])
})

it('unless it moved on in the same field', async () => {
  const task = plan()
  const sent: number[] = []
  const client = clientWith({ ...task, version: task.version + 1, title: 'Theirs' }, sent)
  await expect(changeTask(client, task, { title: 'Mine' })).rejects.toMatchObject({ code: 'version_mismatch' })
  expect(sent).toEqual([task.version])
})

it('a task that moved on takes an approval all the same, unless its checks changed', async () => {
  const check = { kind: 'file', path: 'a', id: 'c1', hash: 'h1' } as const
  const task = { ...plan(), checks: [check] }
  const read = { ...check, approved: false, state: 'waiting', baseline: 'not_run' } as const
  const sent: number[] = []
  const client = clientWith({ ...task, checks: [read], version: task.version + 1 }, sent)
  expect(await changeTask(client, task, { approve: ['h1'] })).toBe(task.version + 2)
  const changed = clientWith({ ...task, checks: [{ ...read, hash: 'h2' }], version: task.version + 1 }, sent)
  await expect(changeTask(changed, task, { approve: ['h1'] })).rejects.toMatchObject({ code: 'version_mismatch' })
})
