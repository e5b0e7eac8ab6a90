import type { Command } from '../src/core/model/command.ts'
import type { Door } from '../src/engine/door/door.ts'
import type { Ref } from '../src/store/store.ts'

export const refOf = (conversation: string): Ref => ({ tenant: 'local', conversation })

export async function planned(door: Door, conversation: string, size: number): Promise<Ref> {
  const ref = refOf(conversation)
  await door.run(ref, { type: 'open_turn', turn_id: 't1', host: { toolset: 'turn_todos' } })
  for (let made = 0; made < size; made += 20) await door.run(ref, create(door, Math.min(20, size - made)))
  return ref
}

export const create = (door: Door, count: number): Command => ({
  type: 'edit_tasks',
  by: 'model',
  turn_id: 't1',
  create: Array.from({ length: count }, (_, index) => ({
    id: door.newId(),
    title: `Step ${index + 1}: look at the reports and write down what is missing`,
    details: 'The quarterly ones, in the shared folder.',
    criteria: 'A list with one line for each report.',
  })),
})

/** A change of one task, different in each round. */
export const change = (round: number): Command => ({
  type: 'edit_tasks',
  by: 'person',
  change: [
    {
      task: 1,
      fields: { details: `The quarterly ones, in the shared folder. Looked at ${String(round).padStart(8, '0')}.` },
    },
  ],
})
