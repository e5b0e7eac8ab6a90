import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { Client } from '../../../client/client.ts'
import type { StoredEvent } from '../../../core/model/event.ts'
import { classNames } from '../parts/class-names.ts'
import { errorText } from '../texts/error-text.ts'
import { eventText, namesIn } from './event-text.ts'
import { localeOf } from '../texts/locale.ts'
import { useRunsheetIfProvided } from '../parts/runsheet-provider.tsx'
import { useStrings } from '../texts/strings.ts'

const MIN_REFETCH_MS = 500

/** The props of `Timeline`. */
export interface TimelineProps {
  /** Required outside of a `RunsheetProvider`. */
  readonly client?: Client
  /** Required outside of a `RunsheetProvider`. */
  readonly sessionId?: string
  /** Shows the events of one task; by default of all. */
  readonly taskId?: string
  /** Reloads the timeline when it changes. Default: the seq of the provider's conversation. */
  readonly asOf?: number
  readonly className?: string
}

/** The history of a conversation's tasks, one line per event. */
export function Timeline(props: TimelineProps): ReactElement {
  const context = useRunsheetIfProvided()
  const client = props.client ?? context?.client
  const sessionId = props.sessionId ?? context?.session
  if (!client || sessionId === undefined) {
    throw new Error('Pass client and sessionId, or wrap <Timeline> in <RunsheetProvider>.')
  }
  const strings = useStrings()
  const seq = sessionId === context?.session ? context.view.state.conversation.seq : undefined
  const { events, error } = useTimeline(client, sessionId, props.taskId, props.asOf ?? seq)
  const names = namesIn(events)
  return (
    <ol className={classNames('rs-timeline', props.className)} aria-label={strings.history}>
      {error !== undefined && <li role="alert">{errorText(strings, error)}</li>}
      {events.flatMap(event => {
        const text = eventText(event, strings, names)
        return text === undefined ? (
          []
        ) : (
          <li key={event.seq}>
            <time dateTime={event.timestamp}>{new Date(event.timestamp).toLocaleTimeString(localeOf(strings))}</time>
            <span dir="auto">{text}</span>
          </li>
        )
      })}
    </ol>
  )
}

function useTimeline(client: Client, sessionId: string, taskId: string | undefined, asOf: number | undefined) {
  const [events, setEvents] = useState<readonly StoredEvent[]>([])
  const [error, setError] = useState<unknown>()
  const throttled = useThrottled(asOf, MIN_REFETCH_MS)
  useEffect(() => {
    let isCurrent = true
    client.timeline(sessionId, taskId).then(
      answer => {
        if (!isCurrent) return
        setEvents(answer.events)
        setError(undefined)
      },
      (problem: unknown) => isCurrent && setError(problem),
    )
    return () => {
      isCurrent = false
    }
  }, [client, sessionId, taskId, throttled])
  return { events, error }
}

/** Changes immediately, then at most once per `ms`. */
function useThrottled<T>(value: T, ms: number): T {
  const [held, setHeld] = useState(value)
  const changedAt = useRef(0)
  useEffect(() => {
    if (held === value) return
    const update = (): void => {
      changedAt.current = performance.now()
      setHeld(value)
    }
    const timer = setTimeout(update, Math.max(0, changedAt.current + ms - performance.now()))
    return () => clearTimeout(timer)
  }, [held, value, ms])
  return held
}
