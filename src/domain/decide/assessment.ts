import type { CommandOf } from '../command.ts'
import { type Conversation, editedSince, planTurnOf } from '../conversation.ts'
import { Refusal } from '../errors.ts'
import type { NewEvent } from '../event.ts'
import { cleanFields } from '../fields.ts'
import type { Instant } from '../instant.ts'
import { isSettled, NEXT } from '../task.ts'
import { LIMITS } from '../text.ts'
import { isRunning } from '../turn.ts'
import { findTask, modelsTurn, notFound } from './tasks.ts'
import { WorkingList } from './working.ts'

/** How often a task may be turned down before it is blocked. */
const PATIENCE = 2

/**
 * A verdict is always recorded. `ok` grants what was claimed, the second `not_ok` blocks, `unknown` changes nothing;
 * and no verdict touches a task that a person has edited since the judged work saw it.
 */
export function assessTask(state: Conversation, command: CommandOf<'assess_task'>, now: Instant): NewEvent[] | Refusal {
  const { turn_id, verdict, reason, model, claim } = command
  const asModel = modelsTurn(state, turn_id)
  if (asModel instanceof Refusal) return asModel
  if (!isRunning(asModel.turn) || !asModel.policy.assessor) {
    return new Refusal('assessor_required', 'There is no assessor in this turn.')
  }
  const task = findTask(state, command.task)
  if (!task || planTurnOf(state, task) !== turn_id) return notFound(state, command.task, turn_id)
  const said = cleanFields({ outcome: claim.outcome })
  if (said instanceof Refusal) return said
  const assessed: NewEvent = { type: 'task_assessed', turn_id, data: { task_id: task.id, verdict, reason, model } }
  const fenced = editedSince(state, task, command.basis ?? state.answered_seq) !== undefined
  if (fenced || verdict === 'unknown' || isSettled(task)) return [assessed]
  if (verdict === 'ok' && !NEXT[task.status].includes(claim.status)) return [assessed]

  const list = new WorkingList(state, now, 'assessor', turn_id)
  if (verdict === 'ok') list.change(task.id, { ...said, status: claim.status })
  else if ((state.rejections.get(task.id) ?? 0) + 1 >= PATIENCE) {
    list.change(task.id, { status: 'blocked', outcome: [...reason].slice(0, LIMITS.text).join('') })
  }
  const events = list.finish()
  return events instanceof Refusal ? events : [assessed, ...events]
}
