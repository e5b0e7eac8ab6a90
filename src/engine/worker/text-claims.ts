import { currentTask, openTasks, tasksInView } from '../../core/model/conversation.ts'
import type { CommandOf } from '../../core/model/command.ts'
import { edited } from '../../core/decide/tasks.ts'
import { planIdOf } from '../../core/model/plan.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { asProse } from '../../core/model/text.ts'
import type { Transaction } from '../door/door.ts'
import { newClaims, type TextAnswer } from '../toolsets/settle-call.ts'
import { todosOf } from '../toolsets/manage-todos.ts'
import type { TurnDeps } from '../turn/drive.ts'
import type { Move } from '../turn/move.ts'
import type { Step } from '../turn/run.ts'
import type { ActiveTurn } from '../turn/turn.ts'

/** `manage_todos`: a text claims its task like a call, or moves on to the next if that is settled. */
export async function claimText(
  turn: ActiveTurn,
  { door }: TurnDeps,
  { task, step }: Extract<Move, { type: 'judge' }>,
): Promise<void> {
  const { run } = turn
  await door.transact(turn.at(`claim:${textId(step)}`), transaction => {
    const { state, now } = transaction
    if (task === undefined || !state.tasks.has(task)) return goOn(turn, transaction, undefined)
    const change = [{ task, fields: { status: 'completed' as const, outcome: asProse(step.text) } }]
    const base = { turn_id: run.turn, basis: step.digest_seq }
    const edit = { change }
    const made = edited(state, { ...base, ...edit, type: 'edit_tasks', by: 'model' }, now)
    if (made instanceof Refusal) return goOn(turn, transaction, task, made)
    if (made.open.length === 0) {
      transaction.take(made.events)
      return goOn(turn, transaction, task)
    }
    const claims = newClaims(door.newId, made.open)
    const held = { toolset: run.policy.toolset, edit, items: 0 }
    transaction.mustRun({
      ...base,
      type: 'make_claims',
      tool_call_id: textId(step),
      claims,
      held,
    } satisfies CommandOf<'make_claims'>)
    return null
  })
}

export const afterText =
  (turn: ActiveTurn, task: string): TextAnswer =>
  (transaction, { refusals, refusal = refusals.get(0) }) =>
    void goOn(turn, transaction, task, refusal)

const textId = ({ number }: Step): string => `step:${number}`

/** Sends the model back to its step or on to the next. Without a verdict the turn ends. */
function goOn(turn: ActiveTurn, transaction: Transaction, task: string | undefined, refusal?: Refusal): null {
  const { run } = turn
  if (refusal?.is('not_accepted') && refusal.data.verdict === 'unknown') return null
  const send = (text: string) =>
    transaction.mustRun(
      turn.fact({ type: 'message_added', data: { message_id: turn.newId(), role: 'user', text, synthetic: true } }),
    )
  const { state } = transaction
  const next = currentTask(state, run.turn)
  if (next && next.id === task) {
    const reason = refusal?.is('not_accepted')
      ? refusal.data.reason
      : refusal?.is('edited_by_person')
        ? EDITED
        : refusal?.message
    send(`That step is not done yet: ${(reason ?? EDITED).replace(/\.$/, '')}. Continue with it: ${next.title}`)
    return null
  }
  if (!next) return null
  const todos = todosOf(tasksInView(state), planIdOf(state, run.turn))
  if (run.advances >= run.policy.max_advances) {
    const remaining = openTasks(state, run.turn).length
    const message = `Reached the limit of ${run.policy.max_advances} steps in a row; ${remaining} remain.`
    transaction.mustRun(
      turn.fact({ type: 'todos_limit_reached', data: { message, remaining, current: todos.current } }),
    )
    return null
  }
  const data = {
    next: next.title,
    state: todos,
    iteration: run.advances + 1,
    max_iterations: run.policy.max_advances,
  }
  transaction.mustRun(turn.fact({ type: 'todos_resubmitting', data }))
  send(`NEXT_TODO: ${next.title}`)
  return null
}

const EDITED = 'a person has changed it'
