import { useEffect, useState } from 'react'
import type { Client } from '../client/client.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { Task } from '../domain/task.ts'
import type { ConversationView } from './use-conversation.ts'

/** Whether a person made or changed a task and the agent has not seen it yet. */
export function useUnseenChanges(client: Client, { state, onEvent }: ConversationView): (task: Task) => boolean {
  const { session_id, edits, answered_seq } = state.conversation
  const [addedAt, setAddedAt] = useState<ReadonlyMap<string, number>>(new Map())
  const unknown = [...state.conversation.tasks.values()].flatMap(({ id, created_by }) =>
    created_by === 'user' && !addedAt.has(id) ? id : [],
  )
  const unknownIds = unknown.join(' ')
  useEffect(
    () =>
      onEvent(event => {
        const added = addedByPerson(event)
        if (added) setAddedAt(before => new Map(before).set(...added))
      }),
    [onEvent],
  )
  // Tasks that were added before this window was open, or while it had no stream.
  useEffect(() => {
    if (unknownIds === '') return
    let isCurrent = true
    client.timeline(session_id).then(
      ({ events }) => {
        const added = events.map(addedByPerson).filter(each => each !== undefined)
        if (isCurrent) setAddedAt(before => new Map([...before, ...added]))
      },
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [client, session_id, unknownIds])
  return ({ id }) =>
    (addedAt.get(id) ?? 0) > answered_seq || Object.values(edits.get(id) ?? {}).some(seq => seq > answered_seq)
}

function addedByPerson({ type, data, seq }: StoredEvent): readonly [string, number] | undefined {
  return type === 'task_created' && data.by === 'person' ? [data.task.id, seq] : undefined
}
