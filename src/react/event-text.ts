import type { Check } from '../domain/check.ts'
import type { StoredEvent } from '../domain/event.ts'
import { checkLabel, runText } from './check-text.ts'
import type { Strings, TimelineStrings } from './strings.ts'

/** What the events of a log only name by id. */
export interface Names {
  readonly title: (taskId: string) => string | undefined
  readonly check: (checkId: string) => Check | undefined
}

/** A timeline's sentence about an event; undefined for events that it leaves out. */
export function eventText(event: StoredEvent, strings: Strings, names: Names): string | undefined {
  const { timeline, status } = strings
  const titleOf = (taskId: string): string => names.title(taskId) ?? timeline.unknownTask
  const labelOf = (checkId: string): string => {
    const check = names.check(checkId)
    return check ? checkLabel(check, strings) : timeline.unknownCheck
  }
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
      const fields: Readonly<Record<string, string>> = timeline.field
      const changes = Object.keys(from).flatMap(field =>
        field === 'status' ? `${statuses[from['status'] as string]} → ${statuses[task.status]}` : (fields[field] ?? []),
      )
      if (changes.length === 0) return undefined
      return timeline.signed(timeline.changed(task.title, timeline.list(changes)), timeline.actor[by])
    }
    case 'task_removed':
      return timeline.signed(timeline.removed(event.data.task.title), timeline.actor[event.data.by])
    case 'task_assessed': {
      const { task_id, verdict, reason, model } = event.data
      const title = titleOf(task_id)
      if (verdict === 'ok') return timeline.accepted(title, model)
      return verdict === 'not_ok' ? timeline.rejected(title, model, reason) : timeline.notAssessed(title, model)
    }
    case 'task_create_review_required': {
      const titles = event.data.draft_tasks.map(({ title }) => title).join(' · ')
      return event.data.reopens === undefined ? timeline.proposed(titles) : timeline.reopened(titles)
    }
    case 'task_create_review_resolved': {
      const { action, reason, comment, row_comments = [] } = event.data
      const sentence = action === 'confirm' ? timeline.confirmed : notConfirmed(reason, timeline)
      const said = [comment ?? [], row_comments.map(each => `${each.title}: ${each.comment}`)].flat()
      return said.length === 0 ? sentence : `${sentence}: ${said.join(' · ')}`
    }
    case 'review_extended':
      return timeline.extended
    case 'check_approved': {
      const { task_id, check_id, via } = event.data
      const actor = via === 'configuration' ? timeline.configuration : timeline.actor.person
      return timeline.signed(timeline.checkApproved(titleOf(task_id), labelOf(check_id)), actor)
    }
    case 'check_ran': {
      const { task_id, check_id, why } = event.data
      const title = task_id === undefined ? timeline.wholePlan : titleOf(task_id)
      const sentence = timeline.checkRan(title, labelOf(check_id), runText(event.data, strings))
      return timeline.signed(sentence, timeline.ranBecause[why])
    }
    case 'guard_accepted': {
      const { task_id, paths } = event.data
      return timeline.signed(timeline.guardsAccepted(titleOf(task_id), timeline.list(paths)), timeline.actor.person)
    }
    case 'check_ticked': {
      const { task_id, check_id } = event.data
      return timeline.signed(timeline.checkTicked(titleOf(task_id), labelOf(check_id)), timeline.actor.person)
    }
    default:
      return undefined
  }
}

function notConfirmed(reason: string | undefined, timeline: TimelineStrings): string {
  const known: Readonly<Record<string, string>> = timeline.notConfirmedBecause
  return known[reason ?? ''] ?? timeline.notConfirmed
}

/** The latest title of each task, and every check that a task had. */
export function namesIn(events: readonly StoredEvent[]): Names {
  const tasks = events.flatMap(({ data }) => ('task' in data ? data.task : []))
  const titles = new Map(tasks.map(({ id, title }) => [id, title]))
  const checks = new Map(tasks.flatMap(task => task.checks ?? []).map(check => [check.id, check]))
  return { title: id => titles.get(id), check: id => checks.get(id) }
}
