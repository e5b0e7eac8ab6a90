import { useEffect, useState } from 'react'
import type { Client } from '../client/client.ts'
import type { Task } from '../domain/task.ts'
import type { ConversationView } from './use-conversation.ts'

/** Says of a task whether a person made or changed it and the agent has not been told yet. */
export function useTold(client: Client, { state, onEvent }: ConversationView): (task: Task) => boolean {
  const { session_id, edits, answered_seq } = state.conversation
  const [added, setAdded] = useState<ReadonlyMap<string, number>>(new Map())
  const unknown = [...state.conversation.tasks.values()].flatMap(({ id, created_by }) =>
    created_by === 'user' && !added.has(id) ? id : [],
  )
  const asked = unknown.join(' ')
  useEffect(
    () =>
      onEvent(({ type, data, seq }) => {
        if (type === 'task_created' && data.by === 'person') setAdded(known => new Map(known).set(data.task.id, seq))
      }),
    [onEvent],
  )
  // What was added before this window came, or while it had no stream: the log knows.
  useEffect(() => {
    if (asked === '') return
    let isCurrent = true
    client.timeline(session_id).then(
      ({ events }) => {
        const made = events.flatMap(({ type, data, seq }) =>
          type === 'task_created' && data.by === 'person' ? [[data.task.id, seq] as const] : [],
        )
        if (isCurrent) setAdded(known => new Map([...known, ...made]))
      },
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [client, session_id, asked])
  return ({ id }) =>
    (added.get(id) ?? 0) > answered_seq || Object.values(edits.get(id) ?? {}).some(seq => seq > answered_seq)
}
