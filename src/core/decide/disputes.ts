import type { CommandOf, Rules } from '../model/command.ts'
import { type Conversation, fold, stamped } from '../model/conversation.ts'
import { isDisputed } from '../proof/dispute.ts'
import type { NewEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import { lastTurnOf, planById } from '../model/plan.ts'
import { invalidField, Refusal } from '../model/refusal.ts'
import { Problem, prose } from '../model/text.ts'
import { ListEditor } from './list-editor.ts'
import { wasOurs } from './reopened.ts'
import { findTask, openIn } from './tasks.ts'
import { continueTurn } from './turns.ts'

export type DisputeCommand = {
  /** A person wants a disputed task done as it is asked. Edits of the task are the other answers. */
  readonly type: 'insist'
  readonly task: string | number
  readonly comment?: string | undefined
  /** Ids for the turn that goes on with it, used if the turn that disputed it is ours and over. */
  readonly continuation: { readonly turn_id: string; readonly message_id: string }
}

export const DISPUTE_RULES: Rules<DisputeCommand> = { insist }

function insist(state: Conversation, command: CommandOf<'insist'>, now: Instant): NewEvent[] | Refusal {
  const task = findTask(state, command.task)
  if (!task) return new Refusal('task_not_found', { ref: command.task, ...openIn(state) })
  if (!isDisputed(task)) return new Refusal('not_disputed', { task })
  const comment = prose(command.comment ?? '')
  if (comment instanceof Problem) return invalidField('comment', comment.fact)
  const editor = new ListEditor(state, now, 'person', null)
  editor.change(task.id, { status: 'pending' })
  if (comment !== '') editor.comment(task.id, comment)
  const events = editor.finish()
  const turn = state.turns.get(lastTurnOf(planById(state, task.plan_id)))
  // A turn that runs, in this plan or another, is not cut short.
  if (events instanceof Refusal || state.running_turn !== null || !turn || !wasOurs(turn)) return events
  const message = `Do step ${task.number} as it is asked: ${task.title}${comment === '' ? '' : `\n${comment}`}`
  const after = fold(state, stamped(state, events, now))
  const started = continueTurn(after, turn, { ...command.continuation, message }, now)
  return started instanceof Refusal ? started : [...events, ...started]
}
