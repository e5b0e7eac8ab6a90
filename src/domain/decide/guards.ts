import { waitingGuards } from '../check-state.ts'
import type { CommandOf } from '../command.ts'
import type { Conversation } from '../conversation.ts'
import type { NewEvent } from '../event.ts'
import { lastTurnOf, planById } from '../plan.ts'
import { planGuards } from '../plan-checks.ts'
import { countingRun, planRuns, taskRuns } from '../proof.ts'
import { invalidField, Refusal } from '../refusal.ts'
import { findTask, openIn } from './tasks.ts'

/**
 * A person accepts changes to guarded files: exactly those that the newest runs of the task's checks found, and those of
 * the checks of its plan that are named.
 */
export function acceptGuards(state: Conversation, command: CommandOf<'accept_guards'>): NewEvent[] | Refusal {
  const task = findTask(state, command.task)
  if (!task) return new Refusal('task_not_found', { ref: command.task, ...openIn(state) })
  const waiting = (task.checks ?? []).flatMap(check => {
    const paths = waitingGuards(state, task, check)
    const guard = countingRun(taskRuns(state, task.id, check.hash))?.guard
    return paths.length > 0 && guard !== undefined ? [{ paths, guard }] : []
  })
  const given = new Set(command.paths)
  const missing = waiting.flatMap(({ paths }) => paths).find(path => !given.has(path))
  if (missing !== undefined) {
    return invalidField('paths', { rule: 'invalid', expected: `all files that changed, ${missing} included` })
  }
  const plan = planById(state, task.plan_id)
  const ofPlan = (plan.done_checks ?? []).flatMap(check => {
    const paths = planGuards(state, plan, check)
    const { guard = '' } = countingRun(planRuns(plan, check.hash)) ?? {}
    return paths.length > 0 && paths.every(path => given.has(path)) ? [{ paths, guard }] : []
  })
  const distinct = new Map([...waiting, ...ofPlan].map(each => [each.guard, each]))
  return [...distinct.values()].map(({ paths, guard }) => ({
    type: 'guard_accepted',
    turn_id: lastTurnOf(plan),
    data: { task_id: task.id, paths, guard },
  }))
}
