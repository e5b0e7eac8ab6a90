import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/server'
import { type DraftRow, type ReviewRequest, type RowStatus, type SubmittedRow, TASK_STATUS } from '../domain/review.ts'
import { PRIORITIES, type Priority } from '../domain/task.ts'
import { isBlank, LIMITS } from '../domain/text.ts'
import type { Decision } from '../door/door.ts'

/** Empty rows in which a person may add tasks. */
const SPARE_ROWS = 2

/** The fields of a submitted form, not yet validated. */
export type FormContent = Readonly<Record<string, unknown>>

/** Why a submitted form was refused, with what it contained. */
export interface FormError {
  readonly message: string
  readonly content: FormContent
}

export const countTasks = ({ draft_tasks: { length } }: ReviewRequest): string =>
  length === 1 ? '1 task' : `${length} tasks`

/**
 * A plan as an elicitation form, row by row. Forms are flat, so each row is a numbered title and priority; a filled spare
 * row adds one, and only its number in `remove` removes one. A row has a status field only if it would not start as to
 * do. After an error the form shows it, and what the person typed.
 */
export function rowsForm(review: ReviewRequest, error?: FormError): ElicitRequestFormParams {
  const { draft_tasks } = review
  const properties: Record<string, PrimitiveSchemaDefinition> = {}
  const typed = (name: string): string | undefined => textIn(error?.content ?? {}, name)
  const addText = (name: string, title: string, fallback?: string): void => {
    const text = typed(name) ?? fallback
    properties[name] = { type: 'string', title, ...(text === undefined ? {} : { default: text }) }
  }
  const addChoice = (name: string, title: string, options: readonly string[], fallback: string): void => {
    const chosen = typed(name) ?? ''
    const selected = options.includes(chosen) ? chosen : fallback
    properties[name] = { type: 'string', title, enum: [...options], default: selected }
  }
  for (let i = 1; i <= Math.min(draft_tasks.length + SPARE_ROWS, LIMITS.batch); i += 1) {
    const row = draft_tasks[i - 1]
    const description = row ? describe(row) : ''
    const title = typed(`title_${i}`) ?? row?.title
    properties[`title_${i}`] = {
      type: 'string',
      title: row ? `Task ${i}` : 'Another task (optional)',
      maxLength: LIMITS.title,
      ...(description === '' ? {} : { description }),
      ...(title === undefined ? {} : { default: title }),
    }
    addChoice(`priority_${i}`, `Priority ${i}`, PRIORITIES, row?.priority ?? 'medium')
    if (row && row.status !== 'todo') addChoice(`status_${i}`, `Status ${i}`, Object.keys(TASK_STATUS), row.status)
  }
  addText('remove', 'Numbers of tasks to remove, such as 2, 4 (optional)')
  addText('comment', 'Comment for the agent (optional)')
  const help = 'Edit titles, fill an empty row to add a task, or name the numbers of tasks to remove.'
  return {
    mode: 'form',
    message: `${error ? `${error.message} ` : ''}The agent proposes ${countTasks(review)}. ${help} Nothing is written unless you accept.`,
    requestedSchema: { type: 'object', properties },
  }
}

/** The parts of a row that have no field in the form. */
function describe({ details, criteria, tags }: DraftRow): string {
  const parts = [details, criteria && `Done when: ${criteria}`, tags.length > 0 && `Tags: ${tags.join(', ')}`]
  return parts.filter(Boolean).join(' · ')
}

export interface FormDecision {
  readonly decision: Decision
  /** The form's row number of each task in the decision. */
  readonly formRows: readonly number[]
}

/**
 * The decision in a submitted form: undefined if it has none of the form's fields, a sentence if `remove` names no tasks.
 * What is missing or empty is unchanged: some clients send only what was changed, others nothing that they did not show.
 */
export function decisionFrom(
  { draft_tasks }: ReviewRequest,
  content: FormContent,
): FormDecision | string | undefined {
  if (!Object.keys(content).some(key => /^(title|priority|status)_\d+$|^(remove|comment)$/.test(key))) return undefined
  const removed = numbersIn(textIn(content, 'remove') ?? '')
  const unknown = removed.find(number => !(number >= 1 && number <= draft_tasks.length))
  if (unknown !== undefined) return `To remove tasks, give their numbers from 1 to ${draft_tasks.length}.`
  const tasks: SubmittedRow[] = []
  const formRows: number[] = []
  for (let i = 1; i <= LIMITS.batch; i += 1) {
    const draft = draft_tasks[i - 1]
    const title = textIn(content, `title_${i}`)
    if (removed.includes(i) || (!draft && title === undefined)) continue
    const priority = content[`priority_${i}`] as Priority | undefined
    const status = content[`status_${i}`] as RowStatus | undefined
    formRows.push(i)
    tasks.push({
      ...(title === undefined ? {} : { title }),
      ...(priority === undefined ? {} : { priority }),
      ...(status === undefined ? {} : { status }),
      ...(draft ? { draft_index: i - 1 } : {}),
    })
  }
  const comment = textIn(content, 'comment')
  return { decision: { action: 'confirm', tasks, ...(comment === undefined ? {} : { comment }) }, formRows }
}

/** The text in a field, unless that is blank. */
export function textIn(content: FormContent, name: string): string | undefined {
  const value = content[name]
  return typeof value === 'string' && !isBlank(value) ? value : undefined
}

/** NaN for what is not a number. */
const numbersIn = (text: string): number[] => text.split(/[\s,;]+/).filter(Boolean).map(Number)
