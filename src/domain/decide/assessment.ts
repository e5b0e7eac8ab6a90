import type { CommandOf } from '../command.ts'
import { type Conversation, editedSince } from '../conversation.ts'
import type { NewEvent } from '../event.ts'
import { cleanFields } from '../fields.ts'
import type { Instant } from '../instant.ts'
import { Refusal } from '../refusal.ts'
import { isOpen, NEXT } from '../task.ts'
import { clip, LIMITS, Problem, prose } from '../text.ts'
import { isRunning } from '../turn.ts'
import { modelTurn, taskInReach } from './tasks.ts'
import { ListEditor } from './list-editor.ts'

/** Rejections after which a task is blocked. */
const MAX_REJECTIONS = 2

/**
 * Records a verdict. `ok` grants the claimed status, the second `not_ok` blocks the task, `unknown` changes nothing. If a
 * person edited the task after `basis`, the verdict is recorded and the task stays as it is.
 */
export function assessTask(state: Conversation, command: CommandOf<'assess_task'>, now: Instant): NewEvent[] | Refusal {
  const { turn_id, verdict, reason, model, usage, claim } = command
  const asModel = modelTurn(state, turn_id)
  if (asModel instanceof Refusal) return asModel
  if (!isRunning(asModel.turn) || !asModel.policy.assessor) {
    return new Refusal('assessor_required', { toolset: null })
  }
  const task = taskInReach(state, command.task, asModel)
  if (task instanceof Refusal) return task
  const cleaned = cleanFields({ outcome: claim.outcome })
  if (cleaned instanceof Refusal) return cleaned
  const assessed: NewEvent = {
    type: 'task_assessed',
    turn_id,
    data: { task_id: task.id, verdict, reason, model, ...(usage ? { usage } : {}) },
  }
  const fenced = editedSince(state, task, command.basis ?? state.answered_seq) !== undefined
  const touches = verdict === 'ok' ? NEXT[task.status].includes(claim.status) : verdict === 'not_ok' && isOpen(task)
  if (fenced || !touches) return [assessed]

  const editor = new ListEditor(state, now, 'assessor', turn_id)
  if (verdict === 'ok') editor.change(task.id, { ...cleaned, status: claim.status })
  else if ((state.rejections.get(task.id) ?? 0) + 1 >= MAX_REJECTIONS) {
    editor.change(task.id, { status: 'blocked', outcome: asOutcome(reason) })
  }
  const events = editor.finish()
  return events instanceof Refusal ? events : [assessed, ...events]
}

/** Truncated rather than refused, because the reason comes from a model. */
function asOutcome(reason: string): string {
  const outcome = prose(clip(reason.toWellFormed(), LIMITS.text))
  return outcome instanceof Problem ? '' : outcome
}
