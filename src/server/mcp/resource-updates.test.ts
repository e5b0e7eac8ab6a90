import { expect, it } from 'vitest'
import { openDoor } from '../../engine/door/door.ts'
import { note } from '../../../test/store/contract.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { ResourceUpdates, tasksUri } from './resource-updates.ts'

it('[MC8] a change of the log updates the resource, live text does not', async () => {
  const store = openMemoryStore()
  const door = openDoor({ store })
  const updated: string[] = []
  const logged = Promise.withResolvers<void>()
  const leave = new ResourceUpdates(door, 'local', logged.reject).subscribe(event => {
    if (event.kind !== 'resource_updated') return
    updated.push(event.uri)
    if (event.uri === tasksUri('logged')) logged.resolve()
  })
  for (let index = 0; index < 10; index += 1) {
    const ref = { tenant: 'local', conversation: `text-${index}` }
    await store.live.write(ref, { turn_id: 't', message_id: 'm', text: 'Hello' })
  }
  await store.commit({ tenant: 'local', conversation: 'logged' }, () => ({ events: [note('a')], value: null }))
  await logged.promise
  expect(updated).toEqual([tasksUri('logged')])
  leave()
  await door.close()
})
