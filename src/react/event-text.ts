import type { StoredEvent } from '../domain/event.ts'
import type { Strings } from './strings.ts'

/** A timeline's sentence about an event; undefined for events that it leaves out. */
export function eventText(event: StoredEvent, { timeline, status }: Strings): string | undefined {
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
      const { verdict, reason, model } = event.data
      if (verdict === 'ok') return timeline.accepted(model)
      return verdict === 'not_ok' ? timeline.rejected(model, reason) : timeline.notAssessed(model)
    }
    case 'task_create_review_required':
      return timeline.proposed(event.data.draft_tasks.map(({ title }) => title).join(' · '))
    case 'task_create_review_resolved': {
      const sentence = event.data.action === 'confirm' ? timeline.confirmed : timeline.notConfirmed
      return event.data.comment === undefined ? sentence : `${sentence}: ${event.data.comment}`
    }
    default:
      return undefined
  }
}
