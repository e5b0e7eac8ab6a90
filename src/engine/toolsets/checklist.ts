import * as z from 'zod'
import type { TaskChange } from '../../core/model/command.ts'
import { listed } from '../../core/model/conversation.ts'
import { openIn } from '../../core/decide/tasks.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { Task } from '../../core/model/task.ts'
import { isBlank, LIMITS } from '../../core/model/text.ts'
import { explain } from './explain.ts'
import { type Done, type JsonObject, type Toolset, type ToolEdit, tool } from './toolset.ts'
import { existing, type View } from './view.ts'

const FORM =
  'a JSON array of objects with `title`, not a comma-separated string: {"items":[{"title":"…"},{"title":"…","isChecked":true}]}'

const at = (row: number, field: string): string => `items[${row}].${field}`

const item = z.object({ id: z.string(), title: z.string(), isChecked: z.boolean() })

interface Patch {
  readonly id: string
  readonly isChecked?: boolean | undefined
  readonly title?: string | undefined
}

export const checklist: Toolset = {
  name: 'checklist',
  tools: [
    tool({
      name: 'add_multiple_checklist_items',
      description: 'Adds items to the checklist, as a JSON array of objects; one item is an array of one.',
      input: z.object({
        items: z
          .array(z.object({ title: z.string(), isChecked: z.boolean().optional().describe('already done') }))
          .min(1),
        contextTaskId: z.string().optional().describe('id of the task that the items belong under'),
      }),
      example: FORM,
      at,
      output: z.object({
        createdItems: z.array(item),
        // Sent as checked, but rejected by the judge.
        notAccepted: z.array(z.object({ id: z.string(), reason: z.string() })).optional(),
      }),
      edit: (_, { items, contextTaskId }) => {
        const kept = [...items.entries()].filter(([, { title }]) => !isBlank(title))
        if (kept.length === 0) throw new Refusal('batch_empty', {})
        const create = kept.map(([, { title, isChecked }]) => ({
          title,
          parent_id: contextTaskId,
          ...(isChecked ? { status: 'completed' as const } : {}),
        }))
        return { create, sent: kept.map(([index]) => index) }
      },
      answer: (view, { made, notDone }) => ({
        ...created(view, made),
        ...(notDone.length > 0 ? { notAccepted: notDone } : {}),
      }),
      created,
    }),
    tool({
      name: 'update_checklist_items',
      description: 'Ticks, unticks or rewords items by id.',
      input: z.object({
        items: z
          .array(z.object({ id: z.string(), isChecked: z.boolean().optional(), title: z.string().optional() }))
          .min(1)
          .max(LIMITS.open),
      }),
      example: '{"items":[{"id":"…","isChecked":true}]}',
      output: z.object({
        updatedItems: z.array(item),
        failedItems: z.array(z.object({ id: z.string(), error: z.string() })),
      }),
      repeats: true,
      edit: (call, { items }) => patched(call, items),
      answer: patchedItems,
    }),
  ],
  prompt: named => `## Checklist
The checklist keeps items for the user. Add what they name with ${named('add_multiple_checklist_items')}. Always send a JSON array of objects with \`title\`, for example
{"items":[{"title":"Book the room"},{"title":"Ask Ann","isChecked":true}]}; \`isChecked\` is true if the text says that something is already
done. Never send a comma-separated string. Tick an item with ${named('update_checklist_items')} if the user says that it is done, or if you did it yourself, also one
of an earlier turn. The others stay unticked: they are the user's to do, so your answer does not wait for them.`,
  retry: (view, named) =>
    `${named('add_multiple_checklist_items')} takes ${FORM}, with \`isChecked\` for what is already done.${existing('Already on the checklist', shown(view), 'Do not create these again.')}`,
  settling: named =>
    `tick each item with ${named('update_checklist_items')} when it is done. If one cannot be done, leave it unticked and say why in your answer.`,
  vocabulary: {
    idOf: ({ id }) => id,
    fields: ['title', 'status'],
    words: {
      task: 'item',
      parent_id: 'contextTaskId',
      outcome: 'what came of it',
      status: 'the box',
      pending: 'unticked',
      in_progress: 'unticked',
      blocked: 'unticked',
      completed: 'ticked',
      cancelled: 'removed',
    },
    sentences: {
      task_not_found: (data, speaker) => {
        const where = data.field === undefined ? '' : `${speaker.field(data.field, data.row)}: `
        return `${where}${NOT_FOUND} ${speaker.open(data)}`
      },
      reviewed_tasks_are_fixed: () => 'A reviewed item cannot be reworded. Add the new wording as a new item.',
    },
  },
  refused: error => ({ error: error.includes(FORM) ? error : `${error} Send new items as ${FORM}` }),
}

/** Each element succeeds or fails by itself. */
function patched(view: View, patches: readonly Patch[]): ToolEdit {
  const ticked = new Map(shown(view).map(task => [task.id, task.status === 'completed']))
  const change = patches.map((patch): TaskChange => {
    const wasChecked = ticked.get(patch.id)
    // Hidden items are not changed.
    if (wasChecked === undefined) return { task: patch.id, fields: {} }
    ticked.set(patch.id, patch.isChecked ?? wasChecked)
    return changeFor(patch, wasChecked)
  })
  return { change, each: true }
}

function patchedItems(view: View, { edit: { change = [] }, refusals }: Done): JsonObject {
  const tasks = new Map(shown(view).map(task => [task.id, task]))
  const rows = change.map(({ task }, row) => ({
    id: String(task),
    task: tasks.get(String(task)),
    refusal: refusals.get(row),
  }))
  const failed = rows.filter(({ task, refusal }) => refusal || !task)
  const isUnknown = ({ task, refusal }: (typeof rows)[number]): boolean => !refusal || !task
  // There is no list tool, so the error for the first unknown id lists the open items; the others need not.
  const first = failed.find(isUnknown)
  return {
    updatedItems: rows.flatMap(({ task, refusal }) => (task && !refusal ? row(task) : [])),
    failedItems: failed.map(each => ({
      // The model may have invented the id: truncate it.
      id: each.id.slice(0, 64).toWellFormed(),
      error:
        !isUnknown(each) && each.refusal
          ? explain(each.refusal, checklist)
          : each === first
            ? notFound(view)
            : NOT_FOUND,
    })),
  }
}

const NOT_FOUND = 'There is no item with this id.'

const notFound = ({ state }: View): string =>
  explain(new Refusal('task_not_found', { ref: '', ...openIn(state) }), checklist)

/** Sets a status only if the box changes: unticked may be pending, in progress or blocked. */
function changeFor({ id, isChecked, title }: Patch, wasChecked: boolean): TaskChange {
  const status = isChecked ? 'completed' : 'pending'
  return { task: id, fields: { title, ...(isChecked === undefined || isChecked === wasChecked ? {} : { status }) } }
}

function created(_: View, tasks: readonly Task[]): JsonObject {
  return { createdItems: tasks.map(row) }
}

const shown = ({ state }: View): Task[] => listed(state).filter(task => task.status !== 'cancelled')

function row({ id, title, status }: Task): JsonObject {
  return { id, title, isChecked: status === 'completed' }
}
