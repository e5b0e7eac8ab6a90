import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/server'
import { type DraftRow, type ReviewRequest, type RowStatus, type SubmittedRow, TASK_STATUS } from '../domain/review.ts'
import { PRIORITIES, type Priority } from '../domain/task.ts'
import { LIMITS } from '../domain/text.ts'
import type { Decision } from '../door/door.ts'

/** Rows that a person may fill in. */
const SPARE = 2

/** What a form came back with: by name, of any make. */
export type Content = Readonly<Record<string, unknown>>

/** What was wrong with the form when it came back, and what stood in it. */
export interface Complaint {
  readonly message: string
  readonly content: Content
}

/**
 * A plan as a form of a client's own. Forms are flat: each row is a numbered title and priority, what the person clears
 * is removed, and a spare row that is filled in is added. A row that would not begin as to do says so.
 */
export function reviewForm({ draft_tasks }: ReviewRequest, complaint?: Complaint): ElicitRequestFormParams {
  const properties: Record<string, PrimitiveSchemaDefinition> = {}
  const typed = (name: string): string | undefined => {
    const value = complaint?.content[name]
    return typeof value === 'string' ? value : undefined
  }
  const choice = (name: string, title: string, options: readonly string[], usual: string): void => {
    const chosen = typed(name) ?? ''
    const shown = options.includes(chosen) ? chosen : usual
    properties[name] = { type: 'string', title, enum: [...options], default: shown }
  }
  for (let i = 1; i <= Math.min(draft_tasks.length + SPARE, LIMITS.batch); i += 1) {
    const row = draft_tasks[i - 1]
    const about = row ? aboutRow(row) : ''
    const title = typed(`title_${i}`) ?? (row && complaint && isCleared(complaint.content, i) ? '' : row?.title)
    properties[`title_${i}`] = {
      type: 'string',
      title: row ? `Task ${i}` : 'Another task (optional)',
      maxLength: LIMITS.title,
      ...(about === '' ? {} : { description: about }),
      ...(title === undefined ? {} : { default: title }),
    }
    choice(`priority_${i}`, `Priority ${i}`, PRIORITIES, row?.priority ?? 'medium')
    if (row && row.status !== 'todo') choice(`status_${i}`, `Status ${i}`, Object.keys(TASK_STATUS), row.status)
  }
  const comment = typed('comment')
  properties['comment'] = {
    type: 'string',
    title: 'A word to the agent (optional)',
    ...(comment === undefined ? {} : { default: comment }),
  }
  const asks = `The agent proposes ${draft_tasks.length === 1 ? '1 task' : `${draft_tasks.length} tasks`}.`
  const how = 'Reword them, clear a title to remove one, fill in a free row to add one.'
  return {
    mode: 'form',
    message: `${complaint ? `${complaint.message} ` : ''}${asks} ${how} Nothing is written unless you accept.`,
    requestedSchema: { type: 'object', properties },
  }
}

/** What goes along with a title and has no field of its own. */
function aboutRow({ details, criteria, tags }: DraftRow): string {
  const parts = [details, criteria && `Done when: ${criteria}`, tags.length > 0 && `Tags: ${tags.join(', ')}`]
  return parts.filter(Boolean).join(' · ')
}

const hasTitles = (content: Content): boolean => Object.keys(content).some(key => /^title_\d+$/.test(key))

/** Whether there is nothing of a row: clients may send only what was changed. */
const isLeftOut = (content: Content, row: number): boolean =>
  ['title', 'priority', 'status'].every(name => content[`${name}_${row}`] === undefined)

/** Clients leave out the title that a person has emptied, and send what stands beside it. */
const isCleared = (content: Content, row: number): boolean =>
  hasTitles(content) && content[`title_${row}`] === undefined && !isLeftOut(content, row)

export interface FormDecision {
  readonly decision: Decision
  /** Where each of its rows stands in the form. */
  readonly places: readonly number[]
}

/**
 * What the form decides. One that came back without a single title was not filled in by anybody: that is no yes. A title
 * that is missing beside its priority was cleared; a row that is missing altogether is as it was, for clients that send
 * only what was changed.
 */
export function decisionIn({ draft_tasks }: ReviewRequest, content: Content): FormDecision | undefined {
  if (!hasTitles(content)) return undefined
  const tasks: SubmittedRow[] = []
  const places: number[] = []
  for (let i = 1; i <= LIMITS.batch; i += 1) {
    const draft = draft_tasks[i - 1]
    const priority = content[`priority_${i}`] as Priority | undefined
    const status = content[`status_${i}`] as RowStatus | undefined
    const title = content[`title_${i}`] ?? (isLeftOut(content, i) ? draft?.title : undefined) ?? ''
    if (typeof title === 'string' && title.trim() === '') continue
    places.push(i)
    tasks.push({
      title: title as string,
      ...(priority === undefined ? {} : { priority }),
      ...(status === undefined ? {} : { status }),
      ...(draft ? { draft_index: i - 1 } : {}),
    })
  }
  const { comment } = content
  const said = typeof comment === 'string' && comment.trim() !== '' ? { comment } : {}
  return { decision: { action: 'confirm', tasks, ...said }, places }
}
