import type { ReviewRequest, SubmittedRow } from '../domain/review.ts'
import { CANCELLING } from '../domain/review-action.ts'
import { isBlank, LIMITS } from '../domain/text.ts'
import type { Decision } from '../door/door.ts'
import {
  type Choice,
  choicesFor,
  type FormContent,
  type FormKind,
  shownChecks,
  showsTitlesOnly,
} from './review-form.ts'

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
