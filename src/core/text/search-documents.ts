import type { EventType, StoredEvent } from '../model/event.ts'
import type { SearchKind } from './search.ts'
import type { Task } from '../model/task.ts'
import { ownWords } from '../views/transcript.ts'

interface DocumentChange {
  readonly kind: SearchKind
  readonly ref: string
  /** Null if it is gone. */
  readonly text: string | null
}

interface FoundMessage {
  readonly message_id: string
  readonly role: 'user' | 'assistant'
  readonly text: string
}

/** The events that may change a document; no others are read. */
export const INDEXED_TYPES: readonly EventType[] = [
  'task_created',
  'task_changed',
  'task_removed',
  'turn_started',
  'message_added',
  'step_finished',
  'task_create_review_required',
  'title_set',
]

const NAMING: ReadonlySet<EventType> = new Set([
  'turn_started',
  'task_created',
  'task_create_review_required',
  'title_set',
])

export const mayName = ({ type }: StoredEvent): boolean => NAMING.has(type)

export const isIndexed = (event: StoredEvent): boolean => changeIn(event) !== undefined || mayName(event)

export function changeIn(event: StoredEvent): DocumentChange | undefined {
  switch (event.type) {
    case 'task_created':
    case 'task_changed':
    case 'task_removed': {
      const { task } = event.data
      if (event.type === 'task_changed' && !rewords(event)) return undefined
      return { kind: 'task', ref: task.id, text: task.removed_at === undefined ? textOf(task) : null }
    }
    default: {
      const message = messageIn(event)
      return message && { kind: 'message', ref: `${event.turn_id ?? ''}/${message.message_id}`, text: message.text }
    }
  }
}

/**
 * The message of an event if a person or the agent wrote it. Messages that the system wrote on their behalf are not
 * indexed.
 */
export function messageIn(event: StoredEvent): FoundMessage | undefined {
  switch (event.type) {
    case 'turn_started':
      return { message_id: event.data.message_id, role: 'user', text: event.data.message }
    case 'message_added': {
      const { message_id, role, synthetic } = event.data
      const text = ownWords(event.data)
      return role === 'system' || synthetic || text === '' ? undefined : { message_id, role, text }
    }
    case 'step_finished': {
      const { message_id } = event.data
      const text = ownWords(event.data)
      return text === '' ? undefined : { message_id, role: 'assistant', text }
    }
    default:
      return undefined
  }
}

const textOf = ({ title, details, outcome }: Task): string => `${title}\n${details}\n${outcome ?? ''}`

/** Most changes are of a status and leave the text as it is. A restored task is indexed again. */
const rewords = ({ data: { from } }: StoredEvent<'task_changed'>): boolean =>
  ['title', 'details', 'outcome', 'removed_at'].some(field => Object.hasOwn(from, field))
