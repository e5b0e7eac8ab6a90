import type { StoredEvent } from './event.ts'

const ID_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'task_id',
  'task_ids',
  'review_id',
  'reopens',
  'revises',
  'parent_id',
])

/** Unlikely to appear by chance, so it may be replaced within texts. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/**
 * Turns a log into that of another conversation, event by event: with its id, and with new ids for tasks and reviews,
 * which are unique in a tenant. They are replaced everywhere, also in the answers of tools. Ids of turns, messages and
 * calls are unique within a conversation and stay.
 */
export function renamedLog(session_id: string, newId: () => string): (event: StoredEvent) => StoredEvent {
  const ids = new Map<string, string>()
  const idFor = (old: string): string => ids.get(old) ?? old
  const renamed = (value: unknown, field: string, from: string): unknown => {
    if (typeof value === 'string') {
      if (field === 'session_id' && value === from) return session_id
      return (ID_FIELDS.has(field) ? ids.get(value) : undefined) ?? value.replaceAll(UUID, idFor)
    }
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(each => renamed(each, field, from))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, renamed(each, name, from)]))
  }
  return event => {
    // A held call names the tasks that it will create.
    const created = event.type === 'claim_made' ? (event.data.held?.edit.create ?? []) : []
    for (const { id } of created) ids.set(id, newId())
    if (event.type === 'task_created' && !ids.has(event.data.task.id)) ids.set(event.data.task.id, newId())
    if (event.type === 'task_create_review_required') ids.set(event.data.review_id, newId())
    return { ...event, session_id, data: renamed(event.data, '', event.session_id) } as StoredEvent
  }
}
