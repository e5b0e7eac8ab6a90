import { useEffect, useState } from 'react'
import type { StoredEvent } from '../domain/event.ts'
import type { ConversationView } from './use-conversation.ts'

const SHOWN_MS = 2_000

/** The title of the task that was started last, for two seconds. */
export function useJustStarted({ onEvent }: ConversationView): string | undefined {
  const [started, setStarted] = useState<{ readonly title: string }>()
  useEffect(
    () =>
      onEvent(event => {
        const title = startedTitle(event)
        if (title !== undefined) setStarted({ title })
      }),
    [onEvent],
  )
  useEffect(() => {
    if (started === undefined) return
    const timer = setTimeout(() => setStarted(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [started])
  return started?.title
}

function startedTitle({ type, data }: StoredEvent): string | undefined {
  if (type === 'todos_resubmitting') return data.next
  const isStart = type === 'task_changed' && data.task.status === 'in_progress' && data.from['status'] === 'pending'
  return isStart ? data.task.title : undefined
}
