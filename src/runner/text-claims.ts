import type { Claim, Judged } from '../domain/claim.ts'
import { type Conversation, currentTask, openTasks, tasksInView } from '../domain/conversation.ts'
import { whyNotGranted } from '../domain/decide/claims.ts'
import { type ResolvedClaim, resolvedClaims, withEnd } from '../domain/open-claims.ts'
import { planIdOf } from '../domain/plan.ts'
import type { Task } from '../domain/task.ts'
import { asProse } from '../domain/text.ts'
import { todosOf } from '../toolsets/todos.ts'
import { recordVerdicts, sealOf } from '../toolsets/verdicts.ts'
import type { TurnDeps } from './drive.ts'
import { judgeAll } from './judging.ts'
import type { Move } from './move.ts'
import type { Step } from './run.ts'
import type { ActiveTurn } from './turn.ts'

/** `manage_todos`: judges the text as the claim for the current task, then advances to the next one. */
export async function assess(
  turn: ActiveTurn,
  deps: TurnDeps,
  move: Extract<Move, { type: 'judge' }>,
  signal: AbortSignal,
): Promise<void> {
  const { run } = turn
  const task = move.task === undefined ? undefined : run.state.tasks.get(move.task)
  const tool_call_id = textId(move.step)
  const resolved = (state: Conversation): readonly ResolvedClaim[] => {
    const claims = resolvedClaims(state, run.turn, tool_call_id)
    return deps.isUnserved ? withEnd(claims, 'waiting', 'no_workspace') : claims
  }
  const [claimed] = resolved(run.state)
  if (task && !claimed) return claimText(turn, deps, task, move.step)
  const red = task && claimed && whyNotGranted(run.state, claimed, task)
  const judged = task && !red ? await judgeText(turn, deps, task, move.step, signal) : undefined
  const { newId } = deps.door
  await deps.door.transact(turn.at(`judge:${move.step.number}`), transaction => {
    const given = { turnId: run.turn, basis: move.step.digest_seq, grants: true }
    if (red)
      transaction.mustRun({
        type: 'refuse_claims',
        turn_id: run.turn,
        claims: resolved(transaction.state),
      })
    if (task && judged) recordVerdicts(transaction, task.id, judged, given)
    const last = judged?.opinions.at(-1)
    const because = last && last.verdict !== 'ok' ? last.verdict : undefined
    transaction.mustRun({ type: 'settle_claims', turn_id: run.turn, tool_call_id, because })
    if (last?.verdict === 'unknown') return null
    const send = (text: string) =>
      transaction.mustRun(
        turn.fact({ type: 'message_added', data: { message_id: newId(), role: 'user', text, synthetic: true } }),
      )
    const { state } = transaction
    const next = currentTask(state, run.turn)
    if (next && next.id === task?.id) {
      const reason = (red?.message ?? (last?.reason || 'a person has changed it')).replace(/\.$/, '')
      send(`That step is not done yet: ${reason}. Continue with it: ${next.title}`)
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
  })
}

/** A text claims the task that it is about, as a call would. */
async function claimText(turn: ActiveTurn, { door }: TurnDeps, task: Task, step: Step): Promise<void> {
  const claim = textClaim(task, step)
  const { status, outcome } = claim
  const made = { claim_id: `clm_${door.newId()}`, task_id: task.id, status, outcome, seal: sealOf(claim) }
  const tool_call_id = textId(step)
  await door.run(turn.at(`claim:${tool_call_id}`), {
    type: 'make_claims',
    turn_id: turn.run.turn,
    tool_call_id,
    basis: step.digest_seq,
    claims: [made],
  })
}

const textId = ({ number }: Step): string => `step:${number}`

const textClaim = ({ id, title, details, criteria }: Task, { text }: Step): Claim => ({
  task: id,
  title,
  details,
  criteria,
  status: 'completed',
  outcome: asProse(text),
})

async function judgeText(
  turn: ActiveTurn,
  deps: TurnDeps,
  task: Task,
  step: Step,
  signal: AbortSignal,
): Promise<Judged | undefined> {
  const [judged] = await judgeAll(turn, deps, step, textId(step), [textClaim(task, step)], signal)
  return judged
}
