import type { CommandOf } from '../command.ts'
import type { Conversation } from '../conversation.ts'
import type { NewEvent } from '../event.ts'
import { invalidField, type Refusal } from '../refusal.ts'
import { LIMITS, line, Problem } from '../text.ts'

/** Names a conversation. A person's name always counts; a model's only where there is none. */
export function setTitle(state: Conversation, command: CommandOf<'set_title'>): NewEvent[] | Refusal {
  const { by, model, usage } = command
  if (by === 'model' && state.titled_by !== null) return []
  const text = line(command.title, LIMITS.name)
  if (text instanceof Problem) return invalidField('title', text.fact)
  // One of these marks a title whose words are still to come (`title.ts`).
  const title = text.replaceAll('\u00a0', ' ')
  const spent = { ...(model === undefined ? {} : { model }), ...(usage === undefined ? {} : { usage }) }
  return [{ type: 'title_set', turn_id: null, data: { title, by, ...spent } }]
}

export const setPinned = (state: Conversation, { pinned }: CommandOf<'set_pinned'>): NewEvent[] =>
  state.pinned === pinned ? [] : [{ type: 'pin_set', turn_id: null, data: { pinned } }]

export const setArchived = (state: Conversation, { archived }: CommandOf<'set_archived'>): NewEvent[] =>
  state.archived === archived ? [] : [{ type: 'archive_set', turn_id: null, data: { archived } }]
