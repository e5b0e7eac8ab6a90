import { listed, type Conversation } from '../model/conversation.ts'
import { isDisputed } from '../proof/dispute.ts'
import { labelOf } from '../proof/check-text.ts'
import { heldOutWords } from '../proof/held-out.ts'
import { inCode, inText, plainText } from '../text/plain-text.ts'
import type { PlanCard, PlanRow } from './plan-card.ts'
import type { PlanOutcome } from '../model/review-action.ts'
import { STANDING_WORDS, doneWords, seconds, statusWord, when } from './tally.ts'
import { standingWordOf } from '../proof/standing.ts'
import type { Task } from '../model/task.ts'
import { threadOf, type StepItem, type StepRun, type ThreadItem, type ThreadTurn, type WorkedStep } from './thread.ts'
import type { Message, MessageCall } from './transcript.ts'
import type { View } from './view.ts'

/**
 * Renders a conversation as Markdown: messages, plans with decisions, work by step, and tasks with outcomes and
 * standings. Messages are Markdown already and are kept as they are; all other text is escaped.
 */
export function conversationMarkdown(state: Conversation, view: View, exportedAt: string): string {
  const turns = threadOf(state, view)
  const parts = [
    `# ${inText(view.title ?? 'Untitled conversation')}`,
    `Conversation ${inCode(state.session_id)}, exported from Runsheet on ${when(exportedAt)}.`,
    ...turns.flatMap(turn => turnParts(state, turn)),
    ...taskParts(state),
  ]
  return `${parts.reduce(joined)}\n`
}

const joined = (text: string, part: string): string =>
  `${text}${part.startsWith('- ') && text.slice(text.lastIndexOf('\n') + 1).startsWith('- ') ? '\n' : '\n\n'}${part}`

function turnParts(state: Conversation, { items, tally, end }: ThreadTurn): string[] {
  const done = tally && `${doneWords(tally)}.`
  const failed = end?.failure && `The turn failed: ${inText(end.failure.message)}`
  const stopped = end?.status === 'stopped' ? 'The turn was stopped.' : undefined
  const closing = [done, failed, stopped].filter(text => text !== undefined)
  return [...items.flatMap(item => itemParts(state, item)), ...(closing.length > 0 ? [`**${closing.join(' ')}**`] : [])]
}

function itemParts(state: Conversation, item: ThreadItem): string[] {
  switch (item.kind) {
    case 'message':
      return messageParts(item.message, item.calls)
    case 'plan':
      return planParts(item.card)
    case 'step':
      return stepParts(state, item.step)
    case 'follow_ups':
      return [`_The agent was sent back to open steps: ${item.count === 1 ? 'once' : `${item.count} times`}._`]
    case 'run':
      return [`- ${runText(item.run)}`]
  }
}

const WHO: Record<Message['role'], string> = { user: 'You', assistant: 'Agent', system: 'Runsheet' }

function messageParts(message: Message, calls: readonly MessageCall[]): string[] {
  const { role, text, synthetic, created_at } = message
  const who = synthetic ? WHO.system : WHO[role]
  const body = role === 'user' ? quoted(text) : asWritten(text)
  return [`## ${who}, ${when(created_at)}`, ...(body === '' ? [] : [body]), ...callLines(calls)]
}

/** Overrides where the outcome itself is not the word to print. */
const OUTCOMES: { readonly [K in PlanOutcome]?: string } = {
  changes_requested: 'sent back for changes',
  timed_out: 'not decided in time',
  closed: 'closed without a decision',
  superseded: 'replaced by another plan',
}

function planParts({
  outcome,
  decided_at,
  steps,
  edited,
  added,
  removed,
  comment,
  row_comments,
  rows,
}: PlanCard): string[] {
  const counts = [`${steps} ${steps === 1 ? 'step' : 'steps'}`]
  for (const [count, what] of [
    [edited, 'edited'],
    [added, 'added'],
    [removed, 'removed'],
  ] as const) {
    if (count > 0) counts.push(`${count} ${what}`)
  }
  const said = [...(comment ? [comment] : []), ...row_comments.map(each => `${each.title}: ${each.comment}`)]
  return [
    `### Plan: ${OUTCOMES[outcome] ?? outcome}`,
    `${counts.join(', ')}. ${when(decided_at)}.`,
    ...(said.length > 0 ? [said.map(text => `> ${inText(text)}`).join('\n>\n')] : []),
    rows.map(row => `- ${rowText(row)}`).join('\n'),
  ]
}

function rowText({ change, title, from }: PlanRow): string {
  if (change === 'kept' || change === 'proposed') return inText(title)
  const before = change === 'edited' && from && from.title !== title ? ` (was: ${inText(from.title)})` : ''
  return `${inText(title)} _${change}_${before}`
}

function stepParts(state: Conversation, { task_id, number, title, status, items }: WorkedStep): string[] {
  const task = state.tasks.get(task_id)
  const words = task ? statusWords(state, task) : status
  const heading = `### Step ${number}: ${inText(title)} (${words})`
  return [heading, ...outcomeParts(task), ...items.flatMap(stepItemParts)]
}

const outcomeParts = (task: Task | undefined): string[] =>
  task?.outcome ? [`**Outcome:** ${inText(task.outcome)}`] : []

function stepItemParts(item: StepItem): string[] {
  switch (item.kind) {
    case 'text': {
      const text = asWritten(item.message.text)
      return text === '' ? [] : [text]
    }
    case 'call':
      return callLines([item.call])
    case 'run':
      return [`- ${runText(item.run)}`]
    case 'report':
      return [`- Used ${inCode(item.tool)}, as the ${item.source} says`]
    case 'claim':
      // The claim's runs and verdicts tell how it ended.
      return []
    case 'verdict':
      return item.verdict === 'not_ok' ? [`- Not accepted: ${inText(item.reason)}`] : []
  }
}

const callLines = (calls: readonly MessageCall[]): string[] =>
  calls.length === 0 ? [] : [calls.map(call => `- Used ${inCode(call.tool)}${callEnd(call)}`).join('\n')]

function callEnd({ answer, approval, unanswered }: MessageCall): string {
  if (approval === 'deny') return ' (not allowed)'
  if (answer) return ` (${seconds(answer.duration_ms)}${answer.ok ? '' : ', failed'})`
  return unanswered ? ' (stopped, outcome unknown)' : ''
}

const runText = ({ check, result, duration_ms }: StepRun): string =>
  `Check ${check ? inCode(labelOf(check)) : 'that is gone'}: ${result}, ${seconds(duration_ms)}`

function taskParts(state: Conversation): string[] {
  const tasks = listed(state)
  if (tasks.length === 0) return []
  const rows = tasks.map(task => {
    const { number, title, outcome } = task
    return `| ${number} | ${inText(title)} | ${statusWords(state, task)} | ${inText(outcome ?? '')} |`
  })
  return ['## Tasks', ['| | task | status | outcome |', '| --- | --- | --- | --- |', ...rows].join('\n')]
}

function statusWords(state: Conversation, task: Task): string {
  const standing = standingWordOf(state, task)
  const stood = standing ? [STANDING_WORDS[standing] + heldOutWords(task.checks)] : []
  return [statusWord(task.status, isDisputed(task)), ...stood].join(', ')
}

/** A person's words are plain text: they are escaped line by line, so that none can end the quotation. */
const quoted = (text: string): string =>
  plainText(text)
    .trim()
    .split('\n')
    .map(line => `> ${line}`.trimEnd())
    .join('\n')

/** An agent's Markdown. A code block left open must not swallow what follows. */
function asWritten(raw: string): string {
  const text = plainText(raw).trim()
  let open: string | undefined
  for (const line of text.split('\n')) {
    const [, fence = ''] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? []
    if (open === undefined) open = fence || undefined
    else if (fence.startsWith(open) && line.trim() === fence) open = undefined
  }
  return open === undefined ? text : `${text}\n${open}`
}
