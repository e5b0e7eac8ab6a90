import { MAX_REJECTIONS, claimOn, reasonIn, type Opinion } from '../proof/claims.ts'
import type { CommandOf, Rules } from '../model/command.ts'
import { editedSince, type Conversation } from '../model/conversation.ts'
import type { NewEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import { NOT_ACCEPTED, hasHidden } from '../proof/held-out.ts'
import { Refusal } from '../model/refusal.ts'
import { isOpen, type Task } from '../model/task.ts'
import { asProse, isId } from '../model/text.ts'
import { isRunning } from '../model/turn.ts'
import { finalRunsAfter } from './requests.ts'
import { findTask, modelTurn, taskInReach } from './tasks.ts'
import { ListEditor } from './list-editor.ts'

export type AssessmentCommand = Opinion & {
  readonly type: 'assess_task'
  readonly turn_id: string
  readonly task: string | number
  readonly seal: string
  readonly basis?: number | undefined
}

export const ASSESSMENT_RULES: Rules<AssessmentCommand> = { assess_task: assessTask }

/**
 * Records a verdict. The second `not_ok` blocks the task. If the task is gone, or a person edited it after `basis`, the
 * verdict is recorded without effect.
 */
function assessTask(state: Conversation, command: CommandOf<'assess_task'>, now: Instant): NewEvent[] | Refusal {
  const { turn_id, verdict } = command
  const id = typeof command.task === 'string' ? command.task : findTask(state, command.task)?.id
  // A verdict on a claim is recorded whatever has changed since.
  const isClaimed = id !== undefined && claimOn(state, id)?.judge === true
  const asModel = isClaimed ? undefined : modelTurn(state, turn_id)
  if (asModel instanceof Refusal) return asModel
  if (asModel && !(isRunning(asModel.turn) && asModel.policy.assessor))
    return new Refusal('assessor_required', { toolset: null })
  const task = taskInReach(state, command.task, asModel)
  if (task instanceof Refusal) {
    const isGone = isId(command.task) && !state.tasks.has(command.task)
    return isGone ? [assessed(command, { id: command.task })] : task
  }
  const fenced = editedSince(state, task, command.basis ?? state.answered_seq) !== undefined
  if (fenced) return [assessed(command, task, fenced)]

  const editor = new ListEditor(state, now, 'assessor', turn_id)
  const rejections = (state.rejections.get(task.id) ?? 0) + 1
  if (verdict === 'not_ok' && rejections >= MAX_REJECTIONS && isBlockable(task)) {
    const reason = hasHidden(task.checks) ? NOT_ACCEPTED : reasonIn(command)
    editor.change(task.id, { status: 'blocked', outcome: asProse(reason) })
    editor.sign(task.id)
  }
  const edits = editor.finish()
  if (edits instanceof Refusal) return edits
  const events = [assessed(command, task), ...edits]
  return [...events, ...finalRunsAfter(state, events, [task], now)]
}

/** A task that a person blocked keeps their words. */
const isBlockable = (task: Task): boolean => isOpen(task) || (task.status === 'blocked' && task.judged_by !== 'person')

function assessed(
  command: CommandOf<'assess_task'>,
  { id, checks }: Pick<Task, 'id' | 'checks'>,
  fenced = false,
): NewEvent {
  const { turn_id, verdict, model, usage, seal, rests, cited } = command
  const data = {
    task_id: id,
    verdict,
    reason: reasonIn(command),
    model,
    seal,
    ...(usage ? { usage } : {}),
    ...(rests === undefined || verdict !== 'ok' ? {} : { rests }),
    ...(cited?.length ? { cited } : {}),
    ...(fenced ? { fenced } : {}),
    ...(hasHidden(checks) ? { hidden: true as const } : {}),
  }
  return { type: 'task_assessed', turn_id, data }
}
