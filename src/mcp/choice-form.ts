import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import type { DraftRow, ReviewRequest } from '../domain/review.ts'
import { cut } from '../domain/text.ts'
import { countTasks, type FormContent, type FormError } from './review-form.ts'

/** The choices of the first form. Their values are what a client shows: not every client shows titles of values. */
export const CHOICES = {
  approve: 'Approve as proposed',
  changes: 'Request changes',
  reject: 'Reject',
  page: 'Edit on the page',
  rows: 'Edit here',
} as const

export type Choice = keyof typeof CHOICES

/** Details and criteria beyond this are cut in the message; the page shows all of them. */
const MAX_TEXT = 500

/** One choice about the whole plan, which is the message. No default: a form that is merely accepted is not a yes. */
export function choiceForm(
  review: ReviewRequest,
  choices: readonly Choice[],
  error?: FormError,
): ElicitRequestFormParams {
  return {
    mode: 'form',
    message: `${error ? `${error.message}\n\n` : ''}${planText(review)}`,
    requestedSchema: {
      type: 'object',
      properties: { decision: { type: 'string', title: 'Decision', enum: choices.map(choice => CHOICES[choice]) } },
      required: ['decision'],
    },
  }
}

/** What was chosen; undefined if the form came back without a choice that it had. */
export function choiceIn({ decision }: FormContent): Choice | undefined {
  return (Object.keys(CHOICES) as Choice[]).find(choice => CHOICES[choice] === decision)
}

export function changesForm(error?: FormError): ElicitRequestFormParams {
  return {
    mode: 'form',
    message: `${error ? `${error.message} ` : ''}What should the agent change? It will propose the plan again.`,
    requestedSchema: {
      type: 'object',
      properties: { comment: { type: 'string', title: 'Changes' } },
      required: ['comment'],
    },
  }
}

/** The plan as numbered lines. */
function planText(review: ReviewRequest): string {
  const rows = review.draft_tasks.map((row, index) => [`${index + 1}. ${row.title}`, ...notes(row)].join('\n'))
  return `The agent proposes ${countTasks(review)}. Nothing is written unless you approve.\n\n${rows.join('\n')}`
}

function notes({ details, criteria, priority, status, tags }: DraftRow): string[] {
  const facts = [
    ...(priority === 'medium' ? [] : [`${priority} priority`]),
    ...(status === 'todo' ? [] : [`starts as ${status}`]),
    ...(tags.length === 0 ? [] : [`tags: ${tags.join(', ')}`]),
  ]
  return [details && short(details), criteria && `Done when: ${short(criteria)}`, facts.join(', ')]
    .filter(Boolean)
    .map(note => `   ${note}`)
}

/** On one line, so that no text can look like a row of the plan. */
const short = (text: string): string => cut(text.replaceAll(/\s+/g, ' '), MAX_TEXT)
