import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/server'
import { describeCheck, isLegible } from '../../core/proof/check-text.ts'
import type { Check } from '../../core/proof/check.ts'
import { CANCELLING, CANCELLING_ACTIONS, type ReviewAction } from '../../core/model/review-action.ts'
import type { DraftRow, ReviewRequest, SubmittedRow } from '../../core/model/review.ts'
import { fieldTexts, globText } from '../../core/model/row.ts'
import { LIMITS, cut, isBlank } from '../../core/model/text.ts'
import type { Decision } from '../../engine/door/door.ts'

export type Choice = ReviewAction | 'page'

/**
 * How a client draws forms. `rows` shows the plan as editable fields, each cut at the end of its line. Otherwise the
 * plan is the message, and `screen` shows only as much of it as fits.
 */
export type FormKind = 'rows' | 'screen' | 'plain'

/** Choices of the first form. Clients show the values, because not all of them show titles. */
const choicesFor = (review: ReviewRequest, kind: FormKind): Readonly<Record<Choice, string>> => ({
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
  const isShort = showsTitlesOnly(review, kind)
  const fits = (check: Check): boolean =>
    isLegible(check) && !isShort && (kind !== 'rows' || describeCheck(check).length <= MAX_CHECK_IN_ROW)
  return review.draft_tasks.map(({ checks = [] }) => checks.filter(fits))
}

/** Then approving allows neither checks nor scopes. */
const showsTitlesOnly = (review: ReviewRequest, kind: FormKind): boolean => kind === 'screen' && isLong(review)

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
  const plan = showsTitlesOnly(review, kind) ? shortPlan(review) : planLines(review)
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
  const asks = row.asks_scope?.length
    ? [`asks to change ${row.asks_scope.map(glob => globText(glob)).join(', ')}, too: allow it on the page`]
    : []
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

export type FormScreen = 'choice' | 'changes'

export type FormAnswer =
  /** `formRows`: the form's row number of each decided task. */
  | { readonly kind: 'decision'; readonly decision: Decision; readonly formRows: readonly number[] }
  | { readonly kind: 'changes' }
  | { readonly kind: 'page' }
  | { readonly kind: 'invalid'; readonly message: string }
  /** No requested field: no person saw the form. */
  | { readonly kind: 'nothing' }

export function answerIn(screen: FormScreen, review: ReviewRequest, content: FormContent): FormAnswer {
  if (screen === 'choice') return chosen(review, content)
  const comment = textIn(content, 'comment')
  if (comment !== undefined) return decided({ action: 'revise', comment })
  return 'comment' in content ? { kind: 'invalid', message: 'Say what to change.' } : { kind: 'nothing' }
}

function chosen(review: ReviewRequest, content: FormContent): FormAnswer {
  const { choice, kind = 'plain' } = choiceIn(review, content) ?? {}
  const comment = commentIn(content)
  if (choice === undefined) return { kind: 'nothing' }
  if (choice === 'page') return { kind: 'page' }
  if (choice === 'confirm') return approval(review, content, kind)
  if (CANCELLING[choice].needsComment && !comment.comment) return { kind: 'changes' }
  return decided({ action: choice, ...comment })
}

/** The choice, and the kind of form: forms that approve other checks word it differently. */
function choiceIn(review: ReviewRequest, { decision }: FormContent): { choice: Choice; kind: FormKind } | undefined {
  const offered = KINDS.flatMap(kind =>
    Object.entries(choicesFor(review, kind)).map(([choice, text]) => ({ choice: choice as Choice, text, kind })),
  )
  return offered.find(({ text }) => text === decision)
}

const KINDS: readonly FormKind[] = ['rows', 'screen', 'plain']

const decided = (decision: Decision, formRows: readonly number[] = []): FormAnswer => ({
  kind: 'decision',
  decision,
  formRows,
})

/**
 * Rows of an approved form, with the checks that it showed. Missing or empty fields are unchanged, because some clients
 * send only changes, and others omit what they did not show. Only a number in `remove` removes a task.
 */
function approval(review: ReviewRequest, content: FormContent, kind: FormKind): FormAnswer {
  const { draft_tasks } = review
  const shown = shownChecks(review, kind)
  const removed = (textIn(content, 'remove') ?? '')
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map(Number)
  if (removed.some(number => draft_tasks[number - 1] === undefined)) {
    return { kind: 'invalid', message: `To remove tasks, give their numbers from 1 to ${draft_tasks.length}.` }
  }
  const rows = Array.from({ length: LIMITS.batch }, (_, index) => index + 1).flatMap(number => {
    const title = textIn(content, `title_${number}`)
    const draft = draft_tasks[number - 1]
    if (removed.includes(number) || (!draft && title === undefined)) return []
    const approve = (shown[number - 1] ?? []).map(({ hash }) => hash)
    const row: SubmittedRow = {
      ...(title === undefined ? {} : { title }),
      ...(draft ? { draft_index: number - 1 } : {}),
      ...(approve.length === 0 ? {} : { approve }),
      ...(draft?.scope && showsTitlesOnly(review, kind) ? { scope: [] } : {}),
    }
    return [{ number, row }]
  })
  const tasks = rows.map(({ row }) => row)
  return decided(
    { action: 'confirm', tasks, ...commentIn(content) },
    rows.map(({ number }) => number),
  )
}

function commentIn(content: FormContent): { comment?: string } {
  const comment = textIn(content, 'comment')
  return comment === undefined ? {} : { comment }
}

function textIn(content: FormContent, name: string): string | undefined {
  const value = content[name]
  return typeof value === 'string' && !isBlank(value) ? value : undefined
}
