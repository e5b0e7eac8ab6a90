import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/server'
import type { ReviewRequest, SubmittedRow } from '../domain/review.ts'
import { PRIORITIES, type Priority } from '../domain/task.ts'
import { LIMITS } from '../domain/text.ts'
import type { Decision } from '../runsheet.ts'

/** Rows that a person may fill in. */
const SPARE = 2

type Content = Readonly<Record<string, unknown>>

/**
 * A plan as a form of a client's own. Forms are flat: each row is a numbered title and priority, what the person clears
 * is removed, and a spare row that is filled in is added.
 */
export function reviewForm({ draft_tasks }: ReviewRequest, complaint?: string): ElicitRequestFormParams {
  const properties: Record<string, PrimitiveSchemaDefinition> = {}
  const rows = Math.min(draft_tasks.length + SPARE, LIMITS.batch)
  for (let i = 1; i <= rows; i += 1) {
    const row = draft_tasks[i - 1]
    const about = [row?.details, row?.criteria && `Done when: ${row.criteria}`].filter(Boolean).join(' · ')
    properties[`title_${i}`] = {
      type: 'string',
      title: row ? `Task ${i}` : `Another task (optional)`,
      maxLength: LIMITS.title,
      ...(about === '' ? {} : { description: about }),
      ...(row ? { default: row.title } : {}),
    }
    properties[`priority_${i}`] = {
      type: 'string',
      title: `Priority ${i}`,
      enum: [...PRIORITIES],
      default: row?.priority ?? 'medium',
    }
  }
  properties['comment'] = { type: 'string', title: 'A word to the agent (optional)' }
  const asks = `The agent proposes ${draft_tasks.length === 1 ? '1 task' : `${draft_tasks.length} tasks`}.`
  const how = 'Reword them, clear a title to remove one, fill in a free row to add one.'
  return {
    mode: 'form',
    message: `${complaint === undefined ? '' : `${complaint} `}${asks} ${how} Nothing is written unless you accept.`,
    requestedSchema: { type: 'object', properties },
  }
}

/** What the form decides. One that came back without a single title was not filled in by anybody: that is no yes. */
export function decisionIn({ draft_tasks }: ReviewRequest, content: Content): Decision | undefined {
  if (!Object.keys(content).some(key => /^title_\d+$/.test(key))) return undefined
  const tasks: SubmittedRow[] = []
  for (let i = 1; i <= Math.max(draft_tasks.length, LIMITS.batch); i += 1) {
    const draft = draft_tasks[i - 1]
    const title = content[`title_${i}`] ?? draft?.title ?? ''
    if (typeof title === 'string' && title.trim() === '') continue
    const priority = content[`priority_${i}`] as Priority | undefined
    tasks.push({
      title: title as string,
      ...(priority === undefined ? {} : { priority }),
      ...(draft ? { draft_index: i - 1 } : {}),
    })
  }
  const { comment } = content
  const said = typeof comment === 'string' && comment.trim() !== '' ? { comment } : {}
  return { action: 'confirm', tasks, ...said }
}
