import { type ReactElement, useEffect, useState } from 'react'
import type { Client } from '../client/client.ts'
import type { StoredEvent } from '../domain/event.ts'
import { useWords } from './words.ts'

export interface TimelineProps {
  readonly client: Client
  readonly sessionId: string
  /** Of one task; without it of all. */
  readonly taskId?: string
  /** Read again whenever this changes: a conversation's seq, say. */
  readonly asOf?: number
}

/** What happened to the tasks, one line each. */
export function Timeline({ client, sessionId, taskId, asOf }: TimelineProps): ReactElement {
  const words = useWords()
  const [events, setEvents] = useState<readonly StoredEvent[]>([])
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let isCurrent = true
    client.timeline(sessionId, taskId).then(
      answer => isCurrent && setEvents(answer.events),
      (error: Error) => isCurrent && setProblem(error.message),
    )
    return () => {
      isCurrent = false
    }
  }, [client, sessionId, taskId, asOf])
  return (
    <ol className="rs-timeline" aria-label={words.history}>
      {problem !== '' && <li role="alert">{problem}</li>}
      {events.map(event => (
        <li key={event.seq}>
          <time dateTime={event.timestamp}>{new Date(event.timestamp).toLocaleTimeString()}</time>
          <span>{said(event, words.status)}</span>
        </li>
      ))}
    </ol>
  )
}

function said(event: StoredEvent, statuses: Readonly<Record<string, string>>): string {
  switch (event.type) {
    case 'task_created':
      return `+ ${event.data.task.title} (${event.data.by})`
    case 'task_changed': {
      const { task, from, by } = event.data
      const fields = Object.keys(from).filter(field => !UNSPOKEN.has(field))
      const change = fields.map(field =>
        field === 'status' ? `${statuses[from['status'] as string]} → ${statuses[task.status]}` : field,
      )
      return `${task.title}: ${change.join(', ')} (${by})`
    }
    case 'task_removed':
      return `− ${event.data.task.title} (${event.data.by})`
    case 'task_assessed':
      return `${event.data.verdict === 'ok' ? '✓' : '✗'} ${event.data.reason || event.data.verdict} (${event.data.model})`
    case 'task_create_review_required':
      return `? ${event.data.draft_tasks.map(({ title }) => title).join(' · ')}`
    case 'task_create_review_resolved':
      return `${event.data.action} ${event.data.comment ?? ''}`.trim()
    default:
      return event.type
  }
}

/** What comes along by itself. */
const UNSPOKEN: ReadonlySet<string> = new Set(['started_at', 'completed_at', 'judged_by'])
