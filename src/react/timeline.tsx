import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { Client } from '../client/client.ts'
import type { StoredEvent } from '../domain/event.ts'
import { explained } from './explained.ts'
import { localeOf } from './locale.ts'
import { useWords, type Words } from './words.ts'

/** However much happens, it is not read more often. */
const READ_EVERY_MS = 500

/** The props of `Timeline`. */
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
  const [problem, setProblem] = useState<unknown>()
  const readAsOf = useNowAndThen(asOf, READ_EVERY_MS)
  useEffect(() => {
    let isCurrent = true
    client.timeline(sessionId, taskId).then(
      ({ events: read }) => {
        if (!isCurrent) return
        setEvents(read)
        setProblem(undefined)
      },
      (error: unknown) => isCurrent && setProblem(error),
    )
    return () => {
      isCurrent = false
    }
  }, [client, sessionId, taskId, readAsOf])
  return (
    <ol className="rs-timeline" aria-label={words.history}>
      {problem !== undefined && <li role="alert">{explained(words, problem)}</li>}
      {events.flatMap(event => {
        const sentence = said(event, words)
        return sentence === undefined ? (
          []
        ) : (
          <li key={event.seq}>
            <time dateTime={event.timestamp}>{new Date(event.timestamp).toLocaleTimeString(localeOf(words))}</time>
            <span>{sentence}</span>
          </li>
        )
      })}
    </ol>
  )
}

/** A value that changes at once, and then not again for a while. */
function useNowAndThen<T>(value: T, ms: number): T {
  const [held, setHeld] = useState(value)
  const last = useRef(0)
  useEffect(() => {
    if (held === value) return
    const take = (): void => {
      last.current = performance.now()
      setHeld(value)
    }
    const timer = setTimeout(take, Math.max(0, last.current + ms - performance.now()))
    return () => clearTimeout(timer)
  }, [held, value, ms])
  return held
}

/** What happened, in a sentence; nothing for what needs none. */
function said(event: StoredEvent, { happened, status }: Words): string | undefined {
  switch (event.type) {
    case 'task_created': {
      const { task, by } = event.data
      const isAgreed = by === 'person' && task.created_by === 'tool'
      return happened.signed(happened.created(task.title), isAgreed ? happened.agreed : happened.by[by])
    }
    case 'task_changed': {
      const { task, from, by } = event.data
      const statuses: Readonly<Record<string, string>> = status
      const what = Object.keys(from).flatMap(field => {
        if (field === 'status') return `${statuses[from['status'] as string]} → ${statuses[task.status]}`
        return happened.field[field] ?? []
      })
      if (what.length === 0) return undefined
      return happened.signed(happened.changed(task.title, happened.all(what)), happened.by[by])
    }
    case 'task_removed':
      return happened.signed(happened.removed(event.data.task.title), happened.by[event.data.by])
    case 'task_assessed': {
      const { verdict, reason, model } = event.data
      if (verdict === 'ok') return happened.passed(model)
      return verdict === 'not_ok' ? happened.turnedDown(model, reason) : happened.unjudged(model)
    }
    case 'task_create_review_required':
      return happened.proposed(event.data.draft_tasks.map(({ title }) => title).join(' · '))
    case 'task_create_review_resolved': {
      const sentence = event.data.action === 'confirm' ? happened.confirmed : happened.notConfirmed
      return event.data.comment === undefined ? sentence : `${sentence}: ${event.data.comment}`
    }
    default:
      return undefined
  }
}
