import type { CommandOf } from '../command.ts'
import { type Conversation, editedSince } from '../conversation.ts'
import { Refusal } from '../errors.ts'
import type { NewEvent } from '../event.ts'
import { cleanFields } from '../fields.ts'
import type { Instant } from '../instant.ts'
import { isOpen, NEXT } from '../task.ts'
import { LIMITS, Problem, prose } from '../text.ts'
import { isRunning } from '../turn.ts'
import { modelsTurn, outcomeOwed, taskInReach } from './tasks.ts'
import { WorkingList } from './working.ts'

/** How often a task may be turned down before it is blocked. */
const PATIENCE = 2

/**
 * A verdict is always recorded. `ok` grants what was claimed, the second `not_ok` blocks, `unknown` changes nothing;
 * and no verdict touches a task that a person has edited since the judged work saw it.
 */
export function assessTask(state: Conversation, command: CommandOf<'assess_task'>, now: Instant): NewEvent[] | Refusal {
  const { turn_id, verdict, reason, model, usage, claim } = command
  const asModel = modelsTurn(state, turn_id)
  if (asModel instanceof Refusal) return asModel
  if (!isRunning(asModel.turn) || !asModel.policy.assessor) {
    return new Refusal('assessor_required', 'There is no assessor in this turn.')
  }
  const task = taskInReach(state, command.task, asModel)
  if (task instanceof Refusal) return task
  const said = cleanFields({ outcome: claim.outcome })
  if (said instanceof Refusal) return said
  const owing = outcomeOwed(asModel.policy, task, { ...said, status: claim.status })
  if (owing) return owing
  const assessed: NewEvent = {
    type: 'task_assessed',
    turn_id,
    data: { task_id: task.id, verdict, reason, model, ...(usage ? { usage } : {}) },
  }
  const fenced = editedSince(state, task, command.basis ?? state.answered_seq) !== undefined
  const touches = verdict === 'ok' ? NEXT[task.status].includes(claim.status) : verdict === 'not_ok' && isOpen(task)
  if (fenced || !touches) return [assessed]

  const list = new WorkingList(state, now, 'assessor', turn_id)
  if (verdict === 'ok') list.change(task.id, { ...said, status: claim.status })
  else if ((state.rejections.get(task.id) ?? 0) + 1 >= PATIENCE) {
    list.change(task.id, { status: 'blocked', outcome: fitting(reason) })
  }
  const events = list.finish()
  return events instanceof Refusal ? events : [assessed, ...events]
}

/** A judge's words are a model's: they are made to fit rather than refused. */
function fitting(reason: string): string {
  const outcome = prose(Array.from(reason.toWellFormed()).slice(0, LIMITS.text).join(''))
  return outcome instanceof Problem ? '' : outcome
}
