import { currentTask, listed } from '../domain/conversation.ts'
import { isOpen, type Task } from '../domain/task.ts'
import { toolsets } from '../toolsets/index.ts'
import type { Run } from './run.ts'

/** Limits in characters and lines: the digest is sent with every model call. */
const MOST_REQUEST = 2_000
const MOST_TITLE = 200
const MOST_OUTCOME = 300
const MOST_DONE = 20
const MOST_OPEN = 40

/** Where the plan stands, for the next model call. Bounded; replaces the previous digest. */
export function digestOf(run: Run): string {
  const { state, turn, policy, request } = run
  const plan = listed(state, turn)
  if (plan.length === 0) return ''
  const current = currentTask(state, turn)
  const { idOf } = toolsets[policy.toolset].vocabulary
  const line = (task: Task): string => `- ${idOf(task)} ${cut(task.title, MOST_TITLE)}`
  const settled = plan.filter(task => !isOpen(task))
  const waiting = plan.filter(task => isOpen(task) && task.id !== current?.id)
  const ended = settled
    .slice(-MOST_DONE)
    .map(task => `${line(task)} (${task.status}${task.outcome ? `: ${cut(inLine(task.outcome), MOST_OUTCOME)}` : ''})`)
  return [
    '## Where the plan stands',
    `The request: ${cut(request.message, MOST_REQUEST)}`,
    ...section('Settled', ended, settled.length),
    ...(current ? ['Now:', line(current), ...details(current)] : []),
    ...section('Then', waiting.slice(0, MOST_OPEN).map(line), waiting.length),
    `${waiting.length + (current ? 1 : 0)} remaining.`,
  ].join('\n')
}

function section(name: string, lines: readonly string[], of: number): string[] {
  if (lines.length === 0) return []
  const more = of > lines.length ? [`- and ${of - lines.length} more`] : []
  return [`${name}:`, ...lines, ...more]
}

function details({ details: text, criteria }: Task): string[] {
  return [
    ...(text === '' ? [] : [`  ${cut(inLine(text), MOST_OUTCOME * 3)}`]),
    ...(criteria === '' ? [] : [`  It is done when: ${cut(inLine(criteria), MOST_OUTCOME * 3)}`]),
  ]
}

/** A model's text must not look like a line of ours. */
const inLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')

export function cut(text: string, most: number): string {
  const points = Array.from(text)
  return points.length <= most ? text : `${points.slice(0, most - 1).join('')}…`
}
