import { expect, it } from 'vitest'
import { openDoor } from '../door/door.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { LiveText } from './live.ts'

it('[TU4] of a long text the beginning is shown while it is written, and all of it is kept', async () => {
  const door = openDoor({ store: openMemoryStore() })
  const shown: string[] = []
  const live = new LiveText(door, (_, { text }) => void shown.push(text))
  const ref = { tenant: 'local', conversation: 'c1' }
  const write = (text: string): void => live.show(ref, { turn_id: 't1', message_id: 'm1', text })
  write('a')
  // Never half a character.
  write(`a${'🗒'.repeat(50_000)}`)
  write(`a${'🗒'.repeat(400_000)}`)
  expect(shown.map(({ length }) => length)).toEqual([1, 99_999])
  expect(shown.at(-1)?.isWellFormed()).toBe(true)
  expect(live.textOf(ref)).toHaveLength(800_001)
  // A model call that is made again starts over.
  write('Again')
  expect(shown.at(-1)).toBe('Again')
  await live.done(ref)
  expect([live.textOf(ref), await door.liveText.read(ref)]).toEqual(['', undefined])
  await door.close()
})
