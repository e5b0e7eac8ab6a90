import { listed, openTasks } from '../domain/conversation.ts'
import { toolsets } from '../toolsets/index.ts'
import { cut } from '../domain/text.ts'
import type { EndReason } from '../domain/turn.ts'
import type { Run } from './run.ts'

/** The default system prompt of the assistant. */
export const ASSISTANT = `You are a careful assistant that gets work done with the tools it has. Do what you were asked, step by step; use
tools where they help, and say what came of them. Never claim to have done what you did not do.`

/** The gate's follow-up message. */
export function followUpText(run: Run): string {
  const open = openTasks(run.state, run.turn)
  const { idOf } = toolsets[run.policy.toolset].vocabulary
  const names = open.slice(0, 10).map(task => `${idOf(task)} ${cut(task.title, 120)}`)
  const more = open.length > names.length ? ` and ${open.length - names.length} more` : ''
  return `The plan is not finished. Open: ${names.join('; ')}${more}. Go on with it: do the work, and settle each task with what came of it. If something cannot be done, mark it blocked and say why.`
}

const REASONS: Record<Exclude<EndReason, 'answered' | 'error'>, string> = {
  budget: 'I stopped here, because the limit of model calls for one turn is reached.',
  gate: 'I stopped here, because I was asked to go on several times and nothing more was settled.',
  limit: 'I stopped here, because the limit of steps that follow one another in one turn is reached.',
  unjudged: 'I stopped here, because the assessor gave no clear answer, and what is not judged does not count as done.',
  repeats: 'I stopped here, because I was doing the same over and over.',
  empty: 'The model gave no answer.',
  stopped: 'Stopped.',
}

/** The last words of a turn: what was answered, why it is over, and what is left, by name. */
export function finalMessage(run: Run, because: EndReason, answer: string, problem?: string): string {
  const reason = because === 'answered' ? '' : because === 'error' ? (problem ?? '') : REASONS[because]
  return [answer.trim(), reason, leftOver(run, because)].filter(text => text !== '').join('\n\n')
}

/** What of the plan is not done; after an answer nothing, where neither a judge nor a gate watches over it. */
function leftOver({ state, turn, policy }: Run, because: EndReason): string {
  if (because === 'answered' && !policy.assessor && !policy.gate) return ''
  const plan = listed(state, turn)
  const open = plan.filter(({ status }) => status === 'pending' || status === 'in_progress')
  const blocked = plan.filter(({ status }) => status === 'blocked')
  const lines = [
    ...open.slice(0, 20).map(({ title }) => `- ${title}`),
    ...(open.length > 20 ? [`- and ${open.length - 20} more`] : []),
    ...blocked
      .slice(0, 20)
      .map(({ title, outcome }) => `- ${title} (blocked${outcome ? `: ${cut(outcome, 200)}` : ''})`),
    ...(blocked.length > 20 ? [`- and ${blocked.length - 20} more (blocked)`] : []),
  ]
  return lines.length === 0 ? '' : `Not done:\n${lines.join('\n')}`
}
