import { givenUpIn, openTasks, type Conversation } from '../../core/model/conversation.ts'
import { answerText, isDisputed } from '../../core/proof/dispute.ts'
import { labelOf } from '../../core/proof/check-text.ts'
import { MAX_FOLLOW_UPS } from '../../core/views/gate.ts'
import { planOf, tasksOf } from '../../core/model/plan.ts'
import { planFailures, unpassedChecks, whyUndone, whyUnpassed } from '../../core/proof/check-state.ts'
import { countingRun, planRuns, tailOf } from '../../core/proof/proof.ts'
import { doneWords, tallyOf } from '../../core/views/tally.ts'
import { isOpen, type Task } from '../../core/model/task.ts'
import { settlingFor } from '../toolsets/guidance.ts'
import { toolsets } from '../toolsets/index.ts'
import type { Toolset } from '../toolsets/toolset.ts'
import { cut } from '../../core/model/text.ts'
import { countedAs, isEmptied, type EndReason } from '../../core/model/turn.ts'
import type { Run } from './run.ts'

export const ASSISTANT = `You are a careful assistant that gets work done with the tools it has. Do what you were asked, step by step. Use
tools where they help, and report what they returned. Never claim work that you did not do.`

export function followUpText(
  run: Pick<Run, 'state' | 'turn' | 'policy'>,
  toolset: Toolset = toolsets[run.policy.toolset],
  isUnserved = false,
): string {
  const open = openTasks(run.state, run.turn)
  if (open.length === 0) {
    const plan = planOf(run.state, run.turn)
    const checks = unpassedChecks(plan).map(check => {
      const last = countingRun(planRuns(plan, check.hash))
      const tail = tailOf(run.state, check.hash, last)
      const why = `\`${labelOf(check)}\` ${whyUnpassed(plan, check).replace(/\.$/, '')}.`
      return last?.result === 'failed' && tail ? `${why} The end of its output:\n${tail}` : why
    })
    return `Every task is settled, but the plan is not done: ${checks.join('\n')}\nMend that, then answer again.`
  }
  const { idOf } = toolset.vocabulary
  const names = open.slice(0, 10).map(task => `${idOf(task)} ${cut(task.title, 120)}${whyIn(run.state, task)}`)
  const more = open.length > names.length ? ` and ${open.length - names.length} more` : ''
  const served = isUnserved
    ? [
        `The last claim could not be checked: no process with its workspace${folderOf(run)} is running. Tell the user to start Runsheet there, or to remove the check or settle the task.`,
      ]
    : []
  const checks = [...planFailures(planOf(run.state, run.turn)), ...served].map(each => ` ${each}`)
  return `The plan is not finished. Open: ${names.join('; ')}${more}.${checks.join('')} Continue: do the work, and ${settlingFor(toolset)}`
}

function folderOf({ state, turn }: Pick<Run, 'state' | 'turn'>): string {
  const path = planOf(state, turn).workspace?.path
  return path === undefined ? '' : ` (${path})`
}

function whyIn(state: Conversation, task: Task): string {
  const why = (isOpen(task) ? answerText(task) : undefined) ?? whyUndone(state, task)
  if (isOpen(task)) return why === undefined ? '' : ` (${why})`
  const said = cut(task.outcome ?? '', 200)
  const reasons = why === undefined ? said : [said.replace(/\.$/, ''), why].filter(text => text !== '').join('; ')
  return ` (${isDisputed(task) ? 'disputed' : task.status}${reasons === '' ? '' : `: ${reasons}`})`
}

const WAYS_OUT =
  'Mend what a check reports and continue; or change the check, or settle the task yourself, in the plan.'

const MAX_LISTED = 20

const REASONS: Record<Exclude<EndReason, 'answered' | 'error'>, string> = {
  budget: 'I stopped here because this turn reached its limit of model calls.',
  gate: `No progress after ${MAX_FOLLOW_UPS} attempts.`,
  limit: 'I stopped here because this turn reached its limit of steps in a row.',
  unjudged: 'I stopped here because the assessor gave no clear verdict, and unjudged work does not count as done.',
  unchecked: 'I stopped here because the checks of this plan could not run once more',
  repeats: 'I stopped here because I kept repeating the same calls.',
  rejected: 'I stopped here because three plans in a row were turned down. Tell me what you would like instead.',
  empty: 'The model gave no answer.',
  stopped: 'Stopped.',
}

/** The final message of a turn: the answer, why the turn ended, and what is not done. */
export function finalMessage(run: Run, because: EndReason, answer: string, problem?: string): string {
  const reason = because === 'answered' ? '' : because === 'error' ? (problem ?? '') : reasonFor(run, because)
  return [answer.trim(), reason, tally(run), waiting(run), inTheWay(run), leftOver(run, because)]
    .filter(text => text !== '')
    .join('\n\n')
}

function reasonFor(run: Run, because: keyof typeof REASONS): string {
  if (because !== 'unchecked') return REASONS[because]
  return `${REASONS[because]}: no process with its workspace${folderOf(run)} is running. Start Runsheet there, then continue; or remove the checks, or settle the tasks yourself, in the plan.`
}

function waiting({ state, turn }: Run): string {
  const { disputed } = planOf(state, turn).counts
  return disputed > 0 ? `Waits for you: ${disputed === 1 ? '1 dispute' : `${disputed} disputes`}.` : ''
}

function inTheWay(run: Run): string {
  const checks = planFailures(planOf(run.state, run.turn))
  return checks.length > 0 ? `The plan is not done: ${checks.join(' ')} Mend that, then continue.` : ''
}

/** How reliable "done" is, for a plan with checks: "5 of 5 done: 3 proven, 2 on the agent's word". */
function tally({ state, turn }: Run): string {
  const plan = tasksOf(state, planOf(state, turn))
  const counted = plan.some(({ checks }) => checks?.length) ? tallyOf(state, plan) : undefined
  return counted ? `${doneWords(counted)}.` : ''
}

/** What is not done. After an answer without gate and judge, only what checks contradict. */
function leftOver({ state, turn, policy }: Run, because: EndReason): string {
  const isUnwatched = because === 'answered' && !policy.assessor && !policy.gate
  const isChecked = (task: Task): boolean => whyUndone(state, task) !== undefined
  const plan = planOf(state, turn)
  const left = tasksOf(state, plan).filter(
    task => isDisputed(task) || (!isUnwatched && (isOpen(task) || task.status === 'blocked')) || isChecked(task),
  )
  const lines = (['open', 'disputed', 'blocked', 'cancelled'] as const).flatMap(as => {
    const tasks = left.filter(task => countedAs(task) === as)
    const more = tasks.length - MAX_LISTED
    return [
      ...tasks.slice(0, MAX_LISTED).map(task => `- ${task.title}${whyIn(state, task)}`),
      ...(more > 0 ? [`- and ${more} more${as === 'open' ? '' : ` (${as})`}`] : []),
    ]
  })
  if (lines.length > 0) return `Not done:\n${lines.join('\n')}${left.some(isChecked) ? `\n\n${WAYS_OUT}` : ''}`
  if (isUnwatched) return ''
  const { counts } = plan
  if (!isEmptied(counts, givenUpIn(state, plan))) return ''
  return counts.removed > 0
    ? 'Not done: tasks were removed from the plan, and none was completed.'
    : 'Not done: all tasks were cancelled.'
}
