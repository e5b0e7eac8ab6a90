import { listed, openTasks, planCounts, planHistory } from '../domain/conversation.ts'
import { labelOf } from '../domain/check-label.ts'
import { MAX_FOLLOW_UPS } from '../domain/gate.ts'
import { unpassedChecks, whyReopened, whyUnpassed } from '../domain/plan-checks.ts'
import { countingRun, planRuns, tailOf } from '../domain/proof.ts'
import { type Standing, standingsOf } from '../domain/standing.ts'
import { isOpen } from '../domain/task.ts'
import { settlingFor } from '../toolsets/guidance.ts'
import { toolsets } from '../toolsets/index.ts'
import type { Toolset } from '../toolsets/toolset.ts'
import { cut } from '../domain/text.ts'
import { type EndReason, isEmptied } from '../domain/turn.ts'
import type { Run } from './run.ts'

/** The default system prompt of the assistant. */
export const ASSISTANT = `You are a careful assistant that gets work done with the tools it has. Do what you were asked, step by step. Use
tools where they help, and report what they returned. Never claim work that you did not do.`

/** The gate's follow-up message. */
export function followUpText(
  run: Pick<Run, 'state' | 'turn' | 'policy'>,
  toolset: Toolset = toolsets[run.policy.toolset],
): string {
  const open = openTasks(run.state, run.turn)
  if (open.length === 0) {
    const checks = unpassedChecks(run.state, run.turn).map(check => {
      const last = countingRun(planRuns(run.state, run.turn, check.hash))
      const tail = tailOf(run.state, check.hash, last)
      const why = `\`${labelOf(check)}\` ${whyUnpassed(run.state, run.turn, check).replace(/\.$/, '')}.`
      return last?.result === 'failed' && tail ? `${why} The end of its output:\n${tail}` : why
    })
    return `Every task is settled, but the plan is not done: ${checks.join('\n')}\nMend that, then answer again.`
  }
  const { idOf } = toolset.vocabulary
  const names = open.slice(0, 10).map(task => {
    const why = whyReopened(run.state, task)
    return `${idOf(task)} ${cut(task.title, 120)}${why === undefined ? '' : ` (${why})`}`
  })
  const more = open.length > names.length ? ` and ${open.length - names.length} more` : ''
  return `The plan is not finished. Open: ${names.join('; ')}${more}. Continue: do the work, and ${settlingFor(toolset)}`
}

/** Tasks that the last message lists, per section. */
const MAX_LISTED = 20

const REASONS: Record<Exclude<EndReason, 'answered' | 'error'>, string> = {
  budget: 'I stopped here because this turn reached its limit of model calls.',
  gate: `No progress after ${MAX_FOLLOW_UPS} attempts.`,
  limit: 'I stopped here because this turn reached its limit of steps in a row.',
  unjudged: 'I stopped here because the assessor gave no clear verdict, and unjudged work does not count as done.',
  unchecked:
    'I stopped here because the checks of this plan could not run once more: no process with its workspace is running. Start Runsheet there, then continue.',
  repeats: 'I stopped here because I kept repeating the same calls.',
  rejected: 'I stopped here because three plans in a row were turned down. Tell me what you would like instead.',
  empty: 'The model gave no answer.',
  stopped: 'Stopped.',
}

/** The last message of a turn: the answer, why the turn ended, and what is not done. */
export function finalMessage(run: Run, because: EndReason, answer: string, problem?: string): string {
  const reason = because === 'answered' ? '' : because === 'error' ? (problem ?? '') : REASONS[because]
  return [answer.trim(), reason, tally(run), leftOver(run, because)].filter(text => text !== '').join('\n\n')
}

const STANDINGS: Record<Standing, string> = {
  proven: 'proven',
  confirmed: 'confirmed by a person',
  judged: 'judged',
  reported: "on the agent's word",
}

/** How far "done" can be trusted, for a plan with checks: "5 of 5 done: 3 proven, 2 on the agent's word". */
function tally({ state, turn }: Run): string {
  const plan = planHistory(state, turn)
  if (!plan.some(({ checks }) => checks?.length)) return ''
  const counts = standingsOf(state, plan)
  const parts = (Object.keys(STANDINGS) as Standing[]).flatMap(standing =>
    counts[standing] > 0 ? `${counts[standing]} ${STANDINGS[standing]}` : [],
  )
  const done = plan.filter(({ status }) => status === 'completed').length
  return `${done} of ${plan.length} done${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`
}

/** What is not done; empty after an answer if neither assessor nor gate is on. */
function leftOver({ state, turn, policy }: Run, because: EndReason): string {
  if (because === 'answered' && !policy.assessor && !policy.gate) return ''
  const plan = listed(state, turn)
  const open = plan.filter(isOpen)
  const blocked = plan.filter(({ status }) => status === 'blocked')
  const lines = [
    ...open.slice(0, MAX_LISTED).map(({ title }) => `- ${title}`),
    ...(open.length > MAX_LISTED ? [`- and ${open.length - MAX_LISTED} more`] : []),
    ...blocked
      .slice(0, MAX_LISTED)
      .map(({ title, outcome }) => `- ${title} (blocked${outcome ? `: ${cut(outcome, 200)}` : ''})`),
    ...(blocked.length > MAX_LISTED ? [`- and ${blocked.length - MAX_LISTED} more (blocked)`] : []),
  ]
  if (lines.length > 0) return `Not done:\n${lines.join('\n')}`
  const dropped = state.turns.get(turn)?.dropped ?? 0
  return isEmptied(planCounts(state, turn), dropped)
    ? 'Not done: tasks were removed from the plan, and none was completed.'
    : ''
}
