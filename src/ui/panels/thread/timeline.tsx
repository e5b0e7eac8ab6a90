import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { Client } from '../../../client/client.ts'
import type { EventData, StoredEvent, TimelineType } from '../../../core/model/event.ts'
import { classNames } from '../parts/controls.tsx'
import { errorText } from '../texts/error-text.ts'
import { type EventStrings, localeOf, type Strings, useStrings } from '../texts/strings.ts'
import { useRunsheetIfProvided } from '../parts/provider.tsx'
import type { Check } from '../../../core/proof/check.ts'
import { checkLabel, runText } from '../parts/text.ts'
import { englishEvents } from '../texts/english-thread.ts'

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

interface Names {
  readonly title: (taskId: string) => string | undefined
  readonly check: (checkId: string) => Check | undefined
}

/** Undefined for events that the timeline omits. */
export function eventText(event: StoredEvent, strings: Strings, names: Names): string | undefined {
  if (!Object.hasOwn(SENTENCES, event.type)) return undefined
  const words = { ...strings.timeline, ...(strings.events ?? englishEvents) }
  const sentence = SENTENCES[event.type as TimelineType] as (data: unknown, words: Words) => string | undefined
  return sentence(event.data, {
    ...words,
    strings,
    titleOf: id => names.title(id) ?? words.unknownTask,
    labelOf: id => {
      const check = names.check(id)
      return check ? checkLabel(check, strings) : words.unknownCheck
    },
  })
}

type Words = Strings['timeline'] &
  EventStrings & {
    readonly strings: Strings
    readonly titleOf: (taskId: string) => string
    readonly labelOf: (checkId: string) => string
  }

const SENTENCES: { readonly [T in TimelineType]: (data: EventData[T], words: Words) => string | undefined } = {
  task_created: ({ task, by }, { signed, created, confirmedByPerson, actor }) => {
    const isConfirmed = by === 'person' && task.created_by === 'tool'
    return signed(created(task.title), isConfirmed ? confirmedByPerson : actor[by])
  },
  task_changed: ({ task, from, by }, { strings, signed, changed, list, actor, ...words }) => {
    const { dispute } = task
    if (dispute && Object.hasOwn(from, 'dispute')) {
      const { how, comment } = dispute.ended ?? {}
      if (how === undefined) return signed(words.disputed(task.title, dispute.reason), dispute.by ?? actor[by])
      const said = comment === undefined ? '' : `: ${comment}`
      return signed(words.disputeEnded[how](task.title, strings.status[task.status]) + said, actor[by])
    }
    const status: Readonly<Record<string, string>> = strings.status
    const field: Readonly<Record<string, string>> = words.field
    const changes = Object.keys(from).flatMap(name =>
      name === 'status' ? `${status[from['status'] as string]} → ${status[task.status]}` : (field[name] ?? []),
    )
    return changes.length === 0 ? undefined : signed(changed(task.title, list(changes)), actor[by])
  },
  task_removed: ({ task, by }, { signed, removed, actor }) => signed(removed(task.title), actor[by]),
  task_assessed: ({ task_id, verdict, reason, model }, { titleOf, accepted, rejected, notAssessed }) => {
    const title = titleOf(task_id)
    if (verdict === 'ok') return accepted(title, model)
    return verdict === 'not_ok' ? rejected(title, model, reason) : notAssessed(title, model)
  },
  task_create_review_required: ({ draft_tasks, reopens }, { proposed, reopened }) => {
    const titles = draft_tasks.map(({ title }) => title).join(' · ')
    return reopens === undefined ? proposed(titles) : reopened(titles)
  },
  task_create_review_resolved: ({ action, reason = '', comment, row_comments = [] }, words) => {
    const because: Readonly<Record<string, string>> = words.notConfirmedBecause
    const sentence = action === 'confirm' ? words.confirmed : (because[reason] ?? words.notConfirmed)
    const said = [comment ?? [], row_comments.map(each => `${each.title}: ${each.comment}`)].flat()
    return said.length === 0 ? sentence : `${sentence}: ${said.join(' · ')}`
  },
  review_extended: (_, { extended }) => extended,
  check_approved: ({ task_id, check_id, via }, { titleOf, labelOf, signed, checkApproved, configuration, actor }) =>
    signed(checkApproved(titleOf(task_id), labelOf(check_id)), via === 'configuration' ? configuration : actor.person),
  check_ran: (run, { strings, titleOf, labelOf, signed, checkRan, wholePlan, ranBecause }) => {
    const title = run.task_id === undefined ? wholePlan : titleOf(run.task_id)
    return signed(checkRan(title, labelOf(run.check_id), runText(run, strings)), ranBecause[run.why])
  },
  changes_accepted: ({ task_id, files }, { titleOf, signed, changesAccepted, list, actor }) =>
    signed(changesAccepted(titleOf(task_id), list(files.map(({ path }) => path))), actor.person),
  check_ticked: ({ task_id, check_id }, { titleOf, labelOf, signed, checkTicked, actor }) =>
    signed(checkTicked(titleOf(task_id), labelOf(check_id)), actor.person),
}

export function namesIn(events: readonly StoredEvent[]): Names {
  const tasks = events.flatMap(({ data }) => ('task' in data ? data.task : []))
  const titles = new Map(tasks.map(({ id, title }) => [id, title]))
  const checks = new Map(tasks.flatMap(task => task.checks ?? []).map(check => [check.id, check]))
  return { title: id => titles.get(id), check: id => checks.get(id) }
}
