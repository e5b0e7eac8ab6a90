import type { Check } from '../../core/proof/check.ts'
import type { Instant } from '../../core/model/instant.ts'
import { CANCELLING, CANCELLING_ACTIONS } from '../../core/model/review-action.ts'
import type { DraftRow, ReviewRequest } from '../../core/model/review.ts'
import { fieldTexts, globText } from '../../core/model/row.ts'
import type { WaitingDispute } from '../../core/views/wire.ts'
import { visible } from '../../core/text/plain-text.ts'
import {
  checkLines,
  isAllowed,
  isEdited,
  isRun,
  type MaybeProposed,
  type Plan,
  type PlanCheck,
  type PlanRow,
} from './plan-file.ts'
import { steps } from '../status-line.ts'
import { fitted, widthOf, wrapped, type Paint } from './terminal-text.ts'
import type { Choice } from './terminal.ts'

export interface Screen extends Plan {
  readonly review: ReviewRequest
  readonly title: string
  /** Null while no server runs. */
  readonly url: string | null
  /** Checks that the configuration requires for the whole plan. */
  readonly planChecks: readonly Check[]
  readonly parentOf: (row: PlanRow) => string | undefined
  /** Undefined only if the review is no longer known. */
  readonly askedAt: Instant | undefined
  readonly now: Instant
}

export function planText(screen: Screen, columns: number, paint: Paint): string[] {
  const { review, rows, comment, title, url, planChecks, askedAt, now } = screen
  const facts = [`${steps(rows.length)} to review`, ...askedWords(askedAt, now), deadlineText(review, now)]
  const removed = review.draft_tasks.filter((_, index) => !rows.some(({ draft_index }) => draft_index === index))
  return [
    paint.bold(fitted(title, columns)),
    paint.dim(fitted(facts.join(', '), columns)),
    ...(url === null ? [] : [paint.dim(`Page: ${url}`)]),
    ...rows.flatMap((row, index) => ['', ...rowText(row, index + 1, screen, columns, paint)]),
    ...(removed.length === 0
      ? []
      : ['', ...removed.map(row => paint.red(`Removed: ${fitted(row.title, columns - 9)}`))]),
    ...(planChecks.length === 0 ? [] : ['', 'Before the plan ends, as your configuration says:']),
    ...planChecks.flatMap(check => indented(checkWords(check), columns)),
    ...(comment === '' ? [] : ['', 'Your comment to the agent:', ...indented(comment, columns)]),
  ]
}

/** One entry of a list; adds what distinguishes plans with the same beginning. */
export function entryText(
  { session_id, draft_tasks }: ReviewRequest,
  { title, askedAt, now }: Pick<Screen, 'title' | 'askedAt' | 'now'>,
  columns: number,
  paint: Paint,
): readonly [string, string] {
  const size = ` (${steps(draft_tasks.length)})`
  const facts = [...askedWords(askedAt, now), `conversation ${session_id}`].join(', ')
  return [`${fitted(title, columns - widthOf(size))}${size}`, paint.dim(fitted(facts, columns))]
}

export function disputeEntry(
  { session_id, title, at }: WaitingDispute,
  now: Instant,
  columns: number,
  paint: Paint,
): readonly [string, string] {
  const facts = `${askedText(at, now)}, conversation ${session_id}`
  return [fitted(`disputed: ${visible(title)}`, columns), paint.dim(fitted(facts, columns))]
}

type Answer = 'skip' | 'confirm' | 'edit' | 'quit' | keyof typeof CANCELLING

/** The answers to a plan. The first one decides nothing, so that a stray Enter does not either. */
export function choicesFor({ rows, review }: Screen, isChanged: boolean): readonly Choice<Answer>[] {
  const running = rows.flatMap(row => row.checks.filter(check => isRun(check, row, review.draft_tasks))).length
  const checks = running === 1 ? 'the check' : `the ${running} checks`
  const runs = running === 0 ? '' : `, and let ${checks} marked [x] run`
  return [
    { value: 'skip', label: 'Decide later: it goes on waiting' },
    { value: 'confirm', label: `Approve ${isChanged ? 'as edited' : 'as proposed'}${runs}` },
    { value: 'edit', label: 'Edit in your editor' },
    ...CANCELLING_ACTIONS.map(value => ({ value, label: CANCELLING[value].does })),
    { value: 'quit', label: 'Quit: it goes on waiting' },
  ]
}

function rowText(row: PlanRow, number: number, screen: Screen, columns: number, paint: Paint): string[] {
  const { title, checks } = row
  const draft = screen.review.draft_tasks
  const head = `${String(number).padStart(2)}  `
  const change = row.draft_index === undefined ? 'added' : isEdited(row, draft) ? 'edited' : ''
  const mark = change === '' ? '' : ` (${change})`
  const [first = '', ...rest] = wrapped(title, columns - widthOf(head) - widthOf(mark))
  const parent = screen.parentOf(row)
  const facts = fieldTexts(row, 'choice', 'line', 'list').join(', ')
  return [
    `${head}${paint.bold(first)}${paint.yellow(mark)}`,
    ...rest.map(line => `    ${paint.bold(line)}`),
    ...(facts === '' ? [] : indented(facts, columns).map(paint.dim)),
    ...(parent === undefined ? [] : [paint.dim(`    under: ${fitted(parent, columns - 11)}`)]),
    ...fieldTexts(row, 'text').flatMap(text => indented(text, columns)),
    ...fieldTexts(row, 'globs').flatMap(text => indented(visible(text), columns)),
    ...asksText(row, draft).flatMap(text => indented(visible(text), columns)),
    ...checks.flatMap(check => checkText(check, row, draft, columns, paint)),
  ]
}

/** Globs that count once the person adds them to the scope. */
function asksText({ draft_index = -1, scope }: PlanRow, draft: readonly DraftRow[]): readonly string[] {
  const asks = (draft[draft_index]?.asks_scope ?? []).filter(glob => !scope.includes(glob))
  return asks.length === 0
    ? []
    : [`asks to change, too (off until you add it): ${asks.map(glob => globText(glob)).join(', ')}`]
}

function checkText(each: PlanCheck, row: PlanRow, draft: readonly DraftRow[], columns: number, paint: Paint): string[] {
  const { check } = each
  if (check.kind === 'person') return indented(`You tick: ${visible(check.ask)}`, columns)
  const runs = isRun(each, row, draft)
  const [first = '', ...rest] = wrapped(checkWords(check), columns - MARK.length)
  const why = isAllowed(check, row, draft) ? 'allowed by your configuration' : runs ? '' : 'not approved: it never runs'
  return [
    `    ${runs ? paint.green('[x]') : paint.red('[ ]')} ${first}`,
    ...rest.map(line => `${MARK}${line}`),
    ...(why === '' ? [] : [paint.dim(`${MARK}(${why})`)]),
  ]
}

/** As wide as the mark before a check. */
const MARK = ' '.repeat(8)

/** Every character must be visible, because this is what gets approved. */
const checkWords = (check: MaybeProposed): string => checkLines(check).map(visible).join('\n')

const indented = (text: string, columns: number): string[] =>
  wrapped(text, columns - 4).map(line => (line === '' ? '' : `    ${line}`))

const askedWords = (askedAt: Instant | undefined, now: Instant): string[] =>
  askedAt === undefined ? [] : [askedText(askedAt, now)]

export function askedText(askedAt: Instant, now: Instant): string {
  const seconds = Math.max(0, Math.floor((Date.parse(now) - Date.parse(askedAt)) / 1_000))
  if (seconds < 120) return `asked ${seconds} s ago`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `asked ${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `asked ${hours} h ago` : `asked ${Math.floor(hours / 24)} days ago`
}

function deadlineText({ expires_at }: ReviewRequest, now: Instant): string {
  if (expires_at === null) return 'without a deadline'
  const seconds = Math.max(0, Math.round((Date.parse(expires_at) - Date.parse(now)) / 1_000))
  return seconds < 120 ? `ends in ${seconds} s` : `ends in ${Math.round(seconds / 60)} min`
}
