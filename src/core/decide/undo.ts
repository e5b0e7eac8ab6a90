import type { CommandOf, Rules } from '../model/command.ts'
import type { Conversation } from '../model/conversation.ts'
import type { NewEvent, StoredEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import { Refusal, type RefusalData } from '../model/refusal.ts'
import { isBack } from '../views/removed.ts'
import { FIELD_NAMES } from '../model/row.ts'
import { finalRunsAfter } from './requests.ts'
import { ListEditor } from './list-editor.ts'
import { difference } from './transition.ts'

export type UndoCommand = {
  readonly type: 'undo_change'
  readonly change: StoredEvent<'task_created' | 'task_changed' | 'task_removed'>
}

export const UNDO_RULES: Rules<UndoCommand> = { undo_change: undoChange }

type Change = CommandOf<'undo_change'>['change']

/**
 * Undoes a person's change with an edit of its own, so undoing the undo is a redo. Refused if the same fields have
 * changed since.
 */
function undoChange(state: Conversation, { change }: CommandOf<'undo_change'>, now: Instant): NewEvent[] | Refusal {
  if (change.data.by !== 'person') return notUndoable('not_persons')
  const editor = new ListEditor(state, now, 'person', null)
  const refused = undone(state, change, editor)
  if (refused) return refused
  const events = editor.finish()
  if (events instanceof Refusal) return events
  return [...events, ...finalRunsAfter(state, events, [change.data.task], now)]
}

function undone(state: Conversation, change: Change, editor: ListEditor): Refusal | undefined {
  const { task: after } = change.data
  const now = state.tasks.get(after.id)
  if (change.type === 'task_removed') {
    if (now) return notUndoable('listed', { task: now })
    const gone = state.removed.get(after.id)
    if (gone?.task.version !== after.version) return notUndoable('too_old')
    editor.bringBack(gone, change.timestamp)
    return undefined
  }
  if (!now) return notUndoable('removed')
  // An added or restored task is removed again, unless it has been worked on.
  const removes = change.type === 'task_created' || isBack(change.data.from)
  // The author of one status does not apply to another.
  const touched = new Set(removes ? WORKED_ON : Object.keys(change.data.from))
  if (touched.has('judged_by')) touched.add('status')
  const changed = Object.keys(difference(after, now)).filter(field => touched.has(field))
  if (changed.length > 0)
    return notUndoable('changed', { task: now, fields: changed, by: changedBy(state, change, changed) })
  if (removes) editor.remove(after.id)
  else editor.putBack(after.id, change.data.from, change.timestamp)
  return undefined
}

/** Fields whose change means that a task was worked on. Its place and the fields set by rules do not count. */
const WORKED_ON = [...FIELD_NAMES, 'outcome']

function changedBy(state: Conversation, { seq, data }: Change, fields: readonly string[]): 'person' | 'agent' {
  const edits = state.edits.get(data.task.id) ?? {}
  return fields.some(field => (edits[field] ?? 0) > seq) ? 'person' : 'agent'
}

function notUndoable(
  because: RefusalData['not_undoable']['because'],
  more: Omit<RefusalData['not_undoable'], 'because'> = {},
): Refusal {
  return new Refusal('not_undoable', { because, ...more })
}
