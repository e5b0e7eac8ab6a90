import { currentTask, listed, openTasks } from '../../core/model/conversation.ts'
import { answerText, isDisputed } from '../../core/proof/dispute.ts'
import { planIdOf } from '../../core/model/plan.ts'
import { whyReopened } from '../../core/proof/check-state.ts'
import { TOOLSETS, captures } from '../../core/model/policy.ts'
import { isOpen, type Task } from '../../core/model/task.ts'
import { cut } from '../../core/model/text.ts'
import { toolsets } from './index.ts'
import type { Toolset } from './toolset.ts'
import type { View } from './view.ts'

/** Limits in characters and lines, because the digest is sent with every model call. */
const MAX_REQUEST = 2_000
const MAX_TITLE = 200
const MAX_OUTCOME = 300
const MAX_DONE = 20
const MAX_OPEN = 40
const MAX_EARLIER = 20

/** The plan's progress for the next model call. Bounded; replaces the previous digest. */
export function digestOf(view: View & { readonly request?: string }): string {
  const { policy } = view.state
  if (!policy) return ''
  const { vocabulary } = toolsets[policy.toolset]
  const parts = [
    planPart(view, vocabulary),
    TOOLSETS[policy.toolset].scope === 'turn' ? [] : earlierPart(view, vocabulary),
  ]
  return parts.flat().join('\n')
}

type Vocabulary = Toolset['vocabulary']

function planPart({ state, turnId, request }: View & { readonly request?: string }, vocabulary: Vocabulary): string[] {
  const plan = listed(state, turnId)
  if (plan.length === 0) return []
  const current = currentTask(state, turnId)
  const isList = captures(state.policy)
  const line = (task: Task): string => {
    const why = isOpen(task) ? (answerText(task) ?? whyReopened(state, task)) : undefined
    return `${lineOf(task, vocabulary)}${why === undefined ? '' : ` (open again: ${inLine(why)})`}`
  }
  const settled = plan.filter(task => !isOpen(task))
  const waiting = plan.filter(task => isOpen(task) && task.id !== current?.id)
  const ended = settled.slice(-MAX_DONE).map(task => {
    const word = isDisputed(task) ? 'disputed, waits for the user' : (vocabulary.words?.[task.status] ?? task.status)
    return `${line(task)} (${word}${task.outcome ? `: ${cut(inLine(task.outcome), MAX_OUTCOME)}` : ''})`
  })
  return [
    isList ? '## The list' : '## Where the plan stands',
    ...(request === undefined ? [] : [`The request: ${cut(request, MAX_REQUEST)}`]),
    ...section('Settled', ended, settled.length),
    ...(current ? ['Now:', line(current), ...details(current)] : []),
    ...section(isList ? 'Open' : 'Next', waiting.slice(0, MAX_OPEN).map(line), waiting.length),
    `${waiting.length + (current ? 1 : 0)} ${isList ? 'open' : 'remaining'}.`,
  ]
}

/** Open tasks of other turns, with ids that this toolset's tools take. */
function earlierPart({ state, turnId }: View, vocabulary: Vocabulary): string[] {
  const plan = planIdOf(state, turnId)
  const earlier = openTasks(state).filter(({ plan_id }) => plan_id !== plan)
  const lines = earlier.slice(-MAX_EARLIER).map(task => lineOf(task, vocabulary))
  const heading = captures(state.policy)
    ? 'Open from earlier turns'
    : 'Open from earlier turns (not part of this plan; settle one if the user asks for it, or if it is done)'
  return section(heading, lines, earlier.length)
}

const lineOf = (task: Task, { idOf }: Vocabulary): string => `- ${idOf(task)} ${cut(task.title, MAX_TITLE)}`

function section(name: string, lines: readonly string[], of: number): string[] {
  if (lines.length === 0) return []
  const more = of > lines.length ? [`- and ${of - lines.length} more`] : []
  return [`${name}:`, ...lines, ...more]
}

function details({ details: text, criteria }: Task): string[] {
  return [
    ...(text === '' ? [] : [`  ${cut(inLine(text), MAX_OUTCOME * 3)}`]),
    ...(criteria === '' ? [] : [`  Done when: ${cut(inLine(criteria), MAX_OUTCOME * 3)}`]),
  ]
}

/** Keeps a model's text from looking like a line of the digest. */
const inLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')
