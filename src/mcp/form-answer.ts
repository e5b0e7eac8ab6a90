import type { ReviewRequest, SubmittedRow } from '../domain/review.ts'
import { isBlank, LIMITS } from '../domain/text.ts'
import type { Decision } from '../door/door.ts'
import { type Choice, choicesFor, type FormContent, shownChecks } from './review-form.ts'

/** The forms: the choice, and what to change. */
export type FormScreen = 'choice' | 'changes'

/** What an accepted form says. */
export type FormAnswer =
  /** `formRows`: the form's row number of each task in the decision. */
  | { readonly kind: 'decision'; readonly decision: Decision; readonly formRows: readonly number[] }
  | { readonly kind: 'changes' }
  | { readonly kind: 'page' }
  | { readonly kind: 'invalid'; readonly message: string }
  /** Nothing that was asked for: no person saw the form. */
  | { readonly kind: 'nothing' }

export function answerIn(screen: FormScreen, review: ReviewRequest, content: FormContent): FormAnswer {
  if (screen === 'choice') return CHOSEN[choiceIn(review, content) ?? 'nothing'](review, content)
  if (textIn(content, 'comment') !== undefined) return CHOSEN.changes(review, content)
  return 'comment' in content ? { kind: 'invalid', message: 'Say what to change.' } : { kind: 'nothing' }
}

function choiceIn(review: ReviewRequest, { decision }: FormContent): Choice | undefined {
  const offered = [true, false].flatMap(hasRows => Object.entries(choicesFor(review, hasRows)) as [Choice, string][])
  return offered.find(([, text]) => text === decision)?.[0]
}

const CHOSEN: Record<Choice | 'nothing', (review: ReviewRequest, content: FormContent) => FormAnswer> = {
  approve: approval,
  changes: (_, content) => {
    const comment = textIn(content, 'comment')
    return comment === undefined ? { kind: 'changes' } : decided({ action: 'revise', comment })
  },
  reject: (_, content) => decided({ action: 'cancel', ...commentIn(content) }),
  page: () => ({ kind: 'page' }),
  nothing: () => ({ kind: 'nothing' }),
}

const decided = (decision: Decision, formRows: readonly number[] = []): FormAnswer => ({
  kind: 'decision',
  decision,
  formRows,
})

/**
 * The rows of an approved form, with the checks that it showed. What is missing or empty is unchanged: some clients send only what was changed, and others
 * nothing that they did not show. Only its number in `remove` removes a task.
 */
function approval({ draft_tasks }: ReviewRequest, content: FormContent): FormAnswer {
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
    const approve = draft ? shownChecks(draft).map(({ hash }) => hash) : []
    const row: SubmittedRow = {
      ...(title === undefined ? {} : { title }),
      ...(draft ? { draft_index: number - 1 } : {}),
      ...(approve.length === 0 ? {} : { approve }),
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

/** The text in a field, unless that is blank. */
function textIn(content: FormContent, name: string): string | undefined {
  const value = content[name]
  return typeof value === 'string' && !isBlank(value) ? value : undefined
}
