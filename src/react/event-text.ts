import type { StoredEvent } from '../domain/event.ts'
import type { Strings, TimelineStrings } from './strings.ts'

/**
 * A timeline's sentence about an event; undefined for events that it leaves out. `titleOf` knows the tasks that events
 * only name by id.
 */
export function eventText(
  event: StoredEvent,
  { timeline, status }: Strings,
  titleOf: (taskId: string) => string | undefined,
): string | undefined {
  switch (event.type) {
    case 'task_created': {
      const { task, by } = event.data
      const isConfirmed = by === 'person' && task.created_by === 'tool'
      return timeline.signed(
        timeline.created(task.title),
        isConfirmed ? timeline.confirmedByPerson : timeline.actor[by],
      )
    }
    case 'task_changed': {
      const { task, from, by } = event.data
      const statuses: Readonly<Record<string, string>> = status
      const changes = Object.keys(from).flatMap(field =>
        field === 'status'
          ? `${statuses[from['status'] as string]} → ${statuses[task.status]}`
          : (timeline.field[field] ?? []),
      )
      if (changes.length === 0) return undefined
      return timeline.signed(timeline.changed(task.title, timeline.list(changes)), timeline.actor[by])
    }
    case 'task_removed':
      return timeline.signed(timeline.removed(event.data.task.title), timeline.actor[event.data.by])
    case 'task_assessed': {
      const { task_id, verdict, reason, model } = event.data
      const title = titleOf(task_id) ?? timeline.unknownTask
      if (verdict === 'ok') return timeline.accepted(title, model)
      return verdict === 'not_ok' ? timeline.rejected(title, model, reason) : timeline.notAssessed(title, model)
    }
    case 'task_create_review_required': {
      const titles = event.data.draft_tasks.map(({ title }) => title).join(' · ')
      return event.data.reopens === undefined ? timeline.proposed(titles) : timeline.reopened(titles)
    }
    case 'task_create_review_resolved': {
      const sentence = event.data.action === 'confirm' ? timeline.confirmed : notConfirmed(event.data.reason, timeline)
      return event.data.comment === undefined ? sentence : `${sentence}: ${event.data.comment}`
    }
    default:
      return undefined
  }
}

function notConfirmed(reason: string | undefined, timeline: TimelineStrings): string {
  const known: Readonly<Record<string, string>> = timeline.notConfirmedBecause
  return known[reason ?? ''] ?? timeline.notConfirmed
}

/** The latest title of each task. */
export function titlesIn(events: readonly StoredEvent[]): ReadonlyMap<string, string> {
  return new Map(events.flatMap(({ data }) => ('task' in data ? [[data.task.id, data.task.title] as const] : [])))
}
