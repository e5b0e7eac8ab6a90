import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/server'
import type { Check } from '../domain/check.ts'
import { describeCheck, isLegible } from '../domain/check-label.ts'
import type { DraftRow, ReviewRequest } from '../domain/review.ts'
import { CANCELLING, CANCELLING_ACTIONS, type ReviewAction } from '../domain/review-action.ts'
import { fieldTexts } from '../domain/row.ts'
import { cut, LIMITS } from '../domain/text.ts'

export type Choice = ReviewAction | 'page'

/**
 * How a client draws forms. `rows` shows the plan as editable fields, each cut at the end of its line. Otherwise the
 * plan is the message, and `screen` shows only as much of it as fits.
 */
export type FormKind = 'rows' | 'screen' | 'plain'

/** Choices of the first form. Clients show the values, because not all of them show titles. */
export const choicesFor = (review: ReviewRequest, kind: FormKind): Readonly<Record<Choice, string>> => ({
  confirm: `${kind === 'rows' ? 'Approve as shown' : 'Approve as proposed'}${allowing(review, kind)}`,
  ...choices,
  page: 'Edit on the page',
})

const choices = Object.fromEntries(CANCELLING_ACTIONS.map(action => [action, CANCELLING[action].choice])) as Readonly<
  Record<keyof typeof CANCELLING, string>
>

/** Approving a plan allows the checks that the form shows, so the choice says so. */
function allowing(review: ReviewRequest, kind: FormKind): string {
  const { length: all } = review.draft_tasks.flatMap(({ checks = [] }) => checks)
  const { length: shown } = shownChecks(review, kind).flat()
  if (all === 0) return ''
  if (shown === 0) return `, without its check${all === 1 ? '' : 's'}`
  if (shown < all) return `, and let ${shown} of its ${all} checks run`
  return `, and let its ${all === 1 ? 'check' : `${all} checks`} run`
}

/** Checks that a form shows in full, per row: approving it allows exactly these. */
export function shownChecks(review: ReviewRequest, kind: FormKind): readonly (readonly Check[])[] {
  const isShort = kind === 'screen' && isLong(review)
  const fits = (check: Check): boolean =>
    isLegible(check) && !isShort && (kind !== 'rows' || describeCheck(check).length <= MAX_CHECK_IN_ROW)
  return review.draft_tasks.map(({ checks = [] }) => checks.filter(fits))
}

/** Whether a screen of 80 columns and 24 lines would cut the plan. */
const isLong = (review: ReviewRequest): boolean =>
  planLines(review).reduce((lines, { length }) => lines + Math.ceil(length / SCREEN.columns), 0) > SCREEN.lines

export type FormContent = Readonly<Record<string, unknown>>

export interface FormError {
  readonly message: string
  readonly content: FormContent
}

export interface FormOptions {
  readonly pageUrl: string | undefined
  readonly kind: FormKind
}

/** Empty rows for a person to add tasks. */
const SPARE_ROWS = 2

/** Fits beside its label on a line of 80 columns, where the client cuts a row. */
const MAX_CHECK_IN_ROW = 60
/** Space for the plan above the choices. */
const SCREEN = { columns: 76, lines: 12 }

/** Longer texts of a row are cut; the page shows them in full. */
const MAX_TEXT = 500

/** The first form: one choice about the whole plan, which is its message or its rows. */
export function choiceForm(
  review: ReviewRequest,
  { pageUrl, kind }: FormOptions,
  error?: FormError,
): ElicitRequestFormParams {
  const hasRows = kind === 'rows'
  const { page, ...others } = choicesFor(review, kind)
  const choices = [...Object.values(others), ...(pageUrl === undefined ? [] : [page])]
  const intro = `${error ? `${error.message} ` : ''}The agent proposes ${countTasks(review)}. Nothing is written unless you approve.`
  const where = pageUrl === undefined ? [] : [`The page: ${pageUrl}`]
  const plan = kind === 'screen' && isLong(review) ? shortPlan(review) : planLines(review)
  return {
    mode: 'form',
    message: [intro, ...where, ...(hasRows ? [] : ['', ...plan])].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        // A default only with the plan in view: elsewhere, merely accepting a form must not approve it.
        decision: { type: 'string', title: 'Decision', enum: choices, ...(hasRows ? { default: choices[0] } : {}) },
        ...(hasRows ? rowFields(review, error?.content ?? {}) : {}),
      },
      required: ['decision'],
    },
  }
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

export const countTasks = ({ draft_tasks: { length } }: ReviewRequest): string =>
  length === 1 ? '1 task' : `${length} tasks`

function planLines({ draft_tasks }: ReviewRequest): readonly string[] {
  return draft_tasks.flatMap((row, index) => [
    `${index + 1}. ${row.title}`,
    ...notes(row, (row.checks ?? []).filter(isLegible)).map(note => `   ${note}`),
  ])
}

function shortPlan({ draft_tasks }: ReviewRequest): readonly string[] {
  const titles = draft_tasks.map(({ title }, index) => cut(`${index + 1}. ${title}`, SCREEN.columns))
  return ['It is long. The page shows all of it; these are the titles:', ...titles]
}

/** The plan as fields. Forms are flat: a title per row and spare row, and the numbers of rows to remove. */
function rowFields(review: ReviewRequest, typed: FormContent): Record<string, PrimitiveSchemaDefinition> {
  const { draft_tasks } = review
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
  const shown = shownChecks(review, 'rows')
  const rows = Array.from({ length: count }, (_, index) => {
    const row = draft_tasks[index]
    const name = `title_${index + 1}`
    const title = row ? `Task ${index + 1}` : 'Another task (optional)'
    return [name, field(name, title, row?.title, row && notes(row, shown[index] ?? []).join(' · '))] as const
  })
  return {
    ...Object.fromEntries(rows),
    remove: field('remove', 'Remove tasks (numbers, such as 2, 4)'),
    comment: field('comment', 'Comment (optional)'),
  }
}

/** Notes of a row besides its title. Each is one line, so that no text can look like a row of the plan. */
function notes(row: DraftRow, shown: readonly Check[]): string[] {
  const facts = fieldTexts(row, 'choice', 'line', 'list', 'globs').join(', ')
  const asks = row.asks_scope?.length ? [`asks to change ${row.asks_scope.join(', ')}, too: allow it on the page`] : []
  return [
    ...checkNotes(row, shown),
    ...fieldTexts(row, 'text').map(short),
    ...(facts === '' ? [] : [facts]),
    ...asks.map(short),
  ]
}

/** Comes first and in full, because it is what a person allows. */
function checkNotes({ checks = [] }: DraftRow, shown: readonly Check[]): string[] {
  const isAll = shown.length === checks.length
  return [
    ...shown.map(check => `Check: ${describeCheck(check)}`),
    ...(isAll ? [] : ['Its check cannot be shown here: allow it on the page']),
  ]
}

const short = (text: string): string => cut(text.replaceAll(/\s+/g, ' '), MAX_TEXT)
