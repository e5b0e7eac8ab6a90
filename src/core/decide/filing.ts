import type { CommandOf, Rules } from '../model/command.ts'
import type { Conversation } from '../model/conversation.ts'
import type { NewEvent, Usage } from '../model/event.ts'
import { invalidField, type Refusal } from '../model/refusal.ts'
import { LIMITS, line, Problem } from '../model/text.ts'

export type FilingCommand =
  | {
      /** A person's title always counts; a model's only while there is none. */
      readonly type: 'set_title'
      readonly by: 'person' | 'model'
      readonly title: string
      readonly model?: string | undefined
      readonly usage?: Usage | undefined
    }
  | { readonly type: 'set_pinned'; readonly pinned: boolean }
  | { readonly type: 'set_archived'; readonly archived: boolean }

export const FILING_RULES: Rules<FilingCommand> = {
  set_title: setTitle,
  set_pinned: (state, { pinned }) =>
    state.pinned === pinned ? [] : [{ type: 'pin_set', turn_id: null, data: { pinned } }],
  set_archived: (state, { archived }) =>
    state.archived === archived ? [] : [{ type: 'archive_set', turn_id: null, data: { archived } }],
}

function setTitle(state: Conversation, command: CommandOf<'set_title'>): NewEvent[] | Refusal {
  const { by, model, usage } = command
  if (by === 'model' && state.titled_by !== null) return []
  const text = line(command.title, LIMITS.name)
  if (text instanceof Problem) return invalidField('title', text.fact)
  // One of these marks a title that is still incomplete (`view.ts`).
  const title = text.replaceAll('\u00a0', ' ')
  const spent = { ...(model === undefined ? {} : { model }), ...(usage === undefined ? {} : { usage }) }
  return [{ type: 'title_set', turn_id: null, data: { title, by, ...spent } }]
}
