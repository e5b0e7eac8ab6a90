import { currentTask, listed } from '../domain/conversation.ts'
import { isOpen, type Task } from '../domain/task.ts'
import { cut } from '../domain/text.ts'
import { toolsets } from './index.ts'
import type { View } from './view.ts'

/** Limits in characters and lines, because the digest is sent with every model call. */
const MAX_REQUEST = 2_000
const MAX_TITLE = 200
const MAX_OUTCOME = 300
const MAX_DONE = 20
const MAX_OPEN = 40

/** Where the plan stands, for the next model call. It is bounded and replaces the previous digest. */
export function digestOf({ state, turnId, request }: View & { readonly request?: string }): string {
  const plan = listed(state, turnId)
  if (plan.length === 0 || !state.policy) return ''
  const current = currentTask(state, turnId)
  const { idOf } = toolsets[state.policy.toolset].vocabulary
  const line = (task: Task): string => `- ${idOf(task)} ${cut(task.title, MAX_TITLE)}`
  const settled = plan.filter(task => !isOpen(task))
  const waiting = plan.filter(task => isOpen(task) && task.id !== current?.id)
  const ended = settled
    .slice(-MAX_DONE)
    .map(task => `${line(task)} (${task.status}${task.outcome ? `: ${cut(inLine(task.outcome), MAX_OUTCOME)}` : ''})`)
  return [
    '## Where the plan stands',
    ...(request === undefined ? [] : [`The request: ${cut(request, MAX_REQUEST)}`]),
    ...section('Settled', ended, settled.length),
    ...(current ? ['Now:', line(current), ...details(current)] : []),
    ...section('Next', waiting.slice(0, MAX_OPEN).map(line), waiting.length),
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
    ...(text === '' ? [] : [`  ${cut(inLine(text), MAX_OUTCOME * 3)}`]),
    ...(criteria === '' ? [] : [`  Done when: ${cut(inLine(criteria), MAX_OUTCOME * 3)}`]),
  ]
}

/** Keeps a model's text from looking like a line of the digest. */
const inLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')
