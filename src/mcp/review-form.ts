import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/server'
import { type DraftRow, type ReviewRequest, type RowStatus, type SubmittedRow, TASK_STATUS } from '../domain/review.ts'
import { PRIORITIES, type Priority } from '../domain/task.ts'
import { LIMITS } from '../domain/text.ts'
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

/**
 * A plan as an elicitation form. Forms are flat, so each row is a numbered title and priority: a cleared title removes
 * the row, a filled spare row adds one. A row has a status field only if it would not start as to do. After an error the
 * form shows it, and what the person typed.
 */
export function reviewForm({ draft_tasks }: ReviewRequest, error?: FormError): ElicitRequestFormParams {
  const properties: Record<string, PrimitiveSchemaDefinition> = {}
  const typed = (name: string): string | undefined => {
    const value = error?.content[name]
    return typeof value === 'string' ? value : undefined
  }
  const addChoice = (name: string, title: string, options: readonly string[], fallback: string): void => {
    const chosen = typed(name) ?? ''
    const selected = options.includes(chosen) ? chosen : fallback
    properties[name] = { type: 'string', title, enum: [...options], default: selected }
  }
  for (let i = 1; i <= Math.min(draft_tasks.length + SPARE_ROWS, LIMITS.batch); i += 1) {
    const row = draft_tasks[i - 1]
    const description = row ? describe(row) : ''
    const title = typed(`title_${i}`) ?? (row && error && isCleared(error.content, i) ? '' : row?.title)
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
  const comment = typed('comment')
  properties['comment'] = {
    type: 'string',
    title: 'Comment for the agent (optional)',
    ...(comment === undefined ? {} : { default: comment }),
  }
  const proposal = `The agent proposes ${draft_tasks.length === 1 ? '1 task' : `${draft_tasks.length} tasks`}.`
  const help = 'Edit a title, clear it to remove the task, or fill an empty row to add one.'
  return {
    mode: 'form',
    message: `${error ? `${error.message} ` : ''}${proposal} ${help} Nothing is written unless you accept.`,
    requestedSchema: { type: 'object', properties },
  }
}

/** The parts of a row that have no field in the form. */
function describe({ details, criteria, tags }: DraftRow): string {
  const parts = [details, criteria && `Done when: ${criteria}`, tags.length > 0 && `Tags: ${tags.join(', ')}`]
  return parts.filter(Boolean).join(' · ')
}

const hasTitles = (content: FormContent): boolean => Object.keys(content).some(key => /^title_\d+$/.test(key))

/** Whether no field of a row was sent. Some clients send only changed fields. */
const isAbsent = (content: FormContent, row: number): boolean =>
  ['title', 'priority', 'status'].every(name => content[`${name}_${row}`] === undefined)

/** Clients omit a cleared title but send the row's other fields. */
const isCleared = (content: FormContent, row: number): boolean =>
  hasTitles(content) && content[`title_${row}`] === undefined && !isAbsent(content, row)

export interface FormDecision {
  readonly decision: Decision
  /** The form's row number of each task in the decision. */
  readonly formRows: readonly number[]
}

/**
 * The decision in a submitted form. Undefined without any title: such a form was not filled in, and is not a yes. A title
 * missing beside its priority was cleared; a row without any field is unchanged.
 */
export function decisionFrom({ draft_tasks }: ReviewRequest, content: FormContent): FormDecision | undefined {
  if (!hasTitles(content)) return undefined
  const tasks: SubmittedRow[] = []
  const formRows: number[] = []
  for (let i = 1; i <= LIMITS.batch; i += 1) {
    const draft = draft_tasks[i - 1]
    const priority = content[`priority_${i}`] as Priority | undefined
    const status = content[`status_${i}`] as RowStatus | undefined
    const title = content[`title_${i}`] ?? (isAbsent(content, i) ? draft?.title : undefined) ?? ''
    if (typeof title === 'string' && title.trim() === '') continue
    formRows.push(i)
    tasks.push({
      title: title as string,
      ...(priority === undefined ? {} : { priority }),
      ...(status === undefined ? {} : { status }),
      ...(draft ? { draft_index: i - 1 } : {}),
    })
  }
  const { comment } = content
  const commented = typeof comment === 'string' && comment.trim() !== '' ? { comment } : {}
  return { decision: { action: 'confirm', tasks, ...commented }, formRows }
}
