import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/server'
import type { Check } from '../domain/check.ts'
import { describeCheck, isLegible } from '../domain/check-label.ts'
import type { DraftRow, ReviewRequest } from '../domain/review.ts'
import { cut, LIMITS } from '../domain/text.ts'

export type Choice = 'approve' | 'changes' | 'reject' | 'page'

/** The choices of the first form. The values are what clients show: not all of them show titles of values. */
export const choicesFor = (review: ReviewRequest, hasRows: boolean): Readonly<Record<Choice, string>> => ({
  approve: `${hasRows ? 'Approve as shown' : 'Approve as proposed'}${allowing(review)}`,
  changes: 'Request changes',
  reject: 'Reject',
  page: 'Edit on the page',
})

/** Approving a plan allows its checks, so the choice says so. */
function allowing({ draft_tasks }: ReviewRequest): string {
  const { length } = draft_tasks.flatMap(shownChecks)
  return length === 0 ? '' : `, and let ${length === 1 ? 'its check' : `its ${length} checks`} run`
}

/** The checks that a form shows in full: approving it allows exactly these. */
export const shownChecks = ({ checks = [] }: DraftRow): readonly Check[] => checks.filter(isLegible)

/** The fields of a submitted form, not yet validated. */
export type FormContent = Readonly<Record<string, unknown>>

/** Why a submitted form was refused, with what it contained. */
export interface FormError {
  readonly message: string
  readonly content: FormContent
}

export interface FormOptions {
  /** The page to edit the plan on, if there is one. */
  readonly pageUrl: string | undefined
  /** The client shows defaults, and fields in this order: the plan is shown as fields, to be edited. */
  readonly hasRows: boolean
}

/** Empty rows in which a person may add tasks. */
const SPARE_ROWS = 2

/** A longer text of a row is cut; the page shows all of it. */
const MAX_TEXT = 500

/** The first form: one choice about the whole plan, which is its message or its rows. */
export function choiceForm(
  review: ReviewRequest,
  { pageUrl, hasRows }: FormOptions,
  error?: FormError,
): ElicitRequestFormParams {
  const { page, ...others } = choicesFor(review, hasRows)
  const choices = [...Object.values(others), ...(pageUrl === undefined ? [] : [page])]
  const intro = `${error ? `${error.message} ` : ''}The agent proposes ${countTasks(review)}. Nothing is written unless you approve.`
  const where = pageUrl === undefined ? [] : [`The page: ${pageUrl}`]
  const plan = hasRows ? [] : ['', ...planLines(review)]
  return {
    mode: 'form',
    message: [intro, ...where, ...plan].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        // A default only where the plan is in view: elsewhere, a form that is merely accepted is not a yes.
        decision: { type: 'string', title: 'Decision', enum: choices, ...(hasRows ? { default: choices[0] } : {}) },
        ...(hasRows ? rowFields(review, error?.content ?? {}) : {}),
      },
      required: ['decision'],
    },
  }
}

/** The second form, for a person who chose to request changes. */
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

export const countTasks = ({ draft_tasks: { length } }: ReviewRequest): string =>
  length === 1 ? '1 task' : `${length} tasks`

/** The plan as numbered lines. */
function planLines({ draft_tasks }: ReviewRequest): string[] {
  return draft_tasks.flatMap((row, index) => [`${index + 1}. ${row.title}`, ...notes(row).map(note => `   ${note}`)])
}

/** The plan as fields. Forms are flat: a title for each row and each spare row, and the numbers of those to remove. */
function rowFields({ draft_tasks }: ReviewRequest, typed: FormContent): Record<string, PrimitiveSchemaDefinition> {
  const count = Math.min(draft_tasks.length + SPARE_ROWS, LIMITS.batch)
  const field = (name: string, title: string, fallback?: string, description = ''): PrimitiveSchemaDefinition => {
    const shown = typeof typed[name] === 'string' ? typed[name] : fallback
    return {
      type: 'string',
      title,
      ...(description === '' ? {} : { description }),
      ...(shown === undefined ? {} : { default: shown }),
    }
  }
  const rows = Array.from({ length: count }, (_, index) => {
    const row = draft_tasks[index]
    const name = `title_${index + 1}`
    const title = row ? `Task ${index + 1}` : 'Another task (optional)'
    return [name, field(name, title, row?.title, row && notes(row).join(' · '))] as const
  })
  return {
    ...Object.fromEntries(rows),
    remove: field('remove', 'Remove tasks (numbers, such as 2, 4)'),
    comment: field('comment', 'Comment (optional)'),
  }
}

/** What a row says besides its title. Each is one line, so that no text can look like a row of the plan. */
function notes(row: DraftRow): string[] {
  const { details, criteria, priority, status, tags, may_change = [] } = row
  const facts = [
    ...(priority === 'medium' ? [] : [`${priority} priority`]),
    ...(status === 'todo' ? [] : [`starts as ${status}`]),
    ...(tags.length === 0 ? [] : [`tags: ${tags.join(', ')}`]),
    ...(may_change.length === 0 ? [] : [`may change: ${may_change.join(', ')}`]),
  ]
  const texts = [details && short(details), criteria && `Done when: ${short(criteria)}`, facts.join(', ')]
  return [...texts.filter(Boolean), ...checkNotes(row)]
}

/** Each check in full: it is what a person allows. */
function checkNotes(row: DraftRow): string[] {
  const shown = shownChecks(row)
  const hidden = (row.checks?.length ?? 0) - shown.length
  return [
    ...shown.map(check => `Check: ${describeCheck(check)}`),
    ...(hidden === 0 ? [] : ['A check that cannot be shown here, and is not allowed by approving']),
  ]
}

const short = (text: string): string => cut(text.replaceAll(/\s+/g, ' '), MAX_TEXT)
