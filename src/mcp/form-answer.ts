import type { ReviewRequest } from '../domain/review.ts'
import type { Decision } from '../door/door.ts'
import { type Choice, choiceIn } from './choice-form.ts'
import { decisionFrom, type FormContent, textIn } from './review-form.ts'

/** The forms: one choice about the plan, what to change, the plan row by row. */
export type FormScreen = 'choice' | 'changes' | 'rows'

/** What an accepted form says. */
export type FormAnswer =
  /** `formRows`: the form's row number of each task in the decision. */
  | { readonly kind: 'decision'; readonly decision: Decision; readonly formRows: readonly number[] }
  | { readonly kind: 'form'; readonly screen: FormScreen }
  | { readonly kind: 'page' }
  | { readonly kind: 'invalid'; readonly message: string }
  /** Nothing that was asked for: the person did not see the form. */
  | { readonly kind: 'nothing' }

export function answerIn(screen: FormScreen, review: ReviewRequest, content: FormContent): FormAnswer {
  return ANSWERS[screen](review, content)
}

type Reader = (review: ReviewRequest, content: FormContent) => FormAnswer

const NOTHING: FormAnswer = { kind: 'nothing' }

const decided = (decision: Decision, formRows: readonly number[] = []): FormAnswer => ({
  kind: 'decision',
  decision,
  formRows,
})

const CHOSEN: Record<Choice, (review: ReviewRequest) => FormAnswer> = {
  approve: ({ draft_tasks }) =>
    decided({ action: 'confirm', tasks: draft_tasks.map((_, draft_index) => ({ draft_index })) }),
  changes: () => ({ kind: 'form', screen: 'changes' }),
  reject: () => decided({ action: 'cancel' }),
  page: () => ({ kind: 'page' }),
  rows: () => ({ kind: 'form', screen: 'rows' }),
}

const ANSWERS: Record<FormScreen, Reader> = {
  choice: (review, content) => {
    const choice = choiceIn(content)
    return choice === undefined ? NOTHING : CHOSEN[choice](review)
  },
  changes: (_, content) => {
    const comment = textIn(content, 'comment')
    if (comment !== undefined) return decided({ action: 'revise', comment })
    return 'comment' in content ? { kind: 'invalid', message: 'Say what to change.' } : NOTHING
  },
  rows: (review, content) => {
    const form = decisionFrom(review, content)
    if (form === undefined) return NOTHING
    return typeof form === 'string' ? { kind: 'invalid', message: form } : decided(form.decision, form.formRows)
  },
}
