import type { CommandOf } from '../command.ts'
import { type Conversation, editedSince } from '../conversation.ts'
import type { NewEvent } from '../event.ts'
import { cleanFields } from '../fields.ts'
import type { Instant } from '../instant.ts'
import { Refusal } from '../refusal.ts'
import { isOpen, NEXT } from '../task.ts'
import { LIMITS, Problem, prose } from '../text.ts'
import { isRunning } from '../turn.ts'
import { modelsTurn, taskInReach } from './tasks.ts'
import { WorkingList } from './working.ts'

/** Rejections after which a task is blocked. */
const MAX_REJECTIONS = 2

/**
 * Records a verdict. `ok` grants what was claimed, the second `not_ok` blocks, `unknown` changes nothing. A task that a
 * person edited after the judged work is left alone.
 */
export function assessTask(state: Conversation, command: CommandOf<'assess_task'>, now: Instant): NewEvent[] | Refusal {
  const { turn_id, verdict, reason, model, usage, claim } = command
  const asModel = modelsTurn(state, turn_id)
  if (asModel instanceof Refusal) return asModel
  if (!isRunning(asModel.turn) || !asModel.policy.assessor) {
    return new Refusal('assessor_required', { toolset: null })
  }
  const task = taskInReach(state, command.task, asModel)
  if (task instanceof Refusal) return task
  const said = cleanFields({ outcome: claim.outcome })
  if (said instanceof Refusal) return said
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
  else if ((state.rejections.get(task.id) ?? 0) + 1 >= MAX_REJECTIONS) {
    list.change(task.id, { status: 'blocked', outcome: fitting(reason) })
  }
  const events = list.finish()
  return events instanceof Refusal ? events : [assessed, ...events]
}

/** The reason comes from a model: it is cut to fit rather than refused. */
function fitting(reason: string): string {
  const outcome = prose(Array.from(reason.toWellFormed()).slice(0, LIMITS.text).join(''))
  return outcome instanceof Problem ? '' : outcome
}
