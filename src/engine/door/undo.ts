import { openIn } from '../../core/decide/tasks.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import { taskOnWire } from '../../core/proof/proof-view.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { TaskAnswer } from '../../core/views/wire.ts'
import type { Ref } from '../../store/store.ts'
import type { Door } from './door.ts'

const CHANGES = ['task_created', 'task_changed', 'task_removed'] as const

type Change = StoredEvent<(typeof CHANGES)[number]>

/**
 * Undoes the change that led to this version of a task, on a person's behalf, and returns the task afterwards, even if
 * it is now removed. The undo itself can be undone in the same way.
 */
export async function undoChange(door: Door, ref: Ref, task: string, version: number): Promise<TaskAnswer> {
  const changes = (await door.conversations.events(ref, { types: CHANGES, task })) as readonly Change[]
  if (changes.length === 0) throw new Refusal('task_not_found', { ref: task, ...openIn(await door.read(ref)) })
  const change = changes.find(({ data }) => data.task.version === version)
  if (!change) throw new Refusal('not_undoable', { because: 'unknown' })
  const { value } = await door.transact(ref, transaction => {
    const before = transaction.state
    const events = transaction.mustRun({ type: 'undo_change', change })
    const { state } = transaction
    const removed = events.flatMap(({ type, data }) =>
      type === 'task_removed' && data.task.id === task ? [data.task] : [],
    )
    // If the undo removed the task, show its checks from before.
    const [known, shown] = removed[0] ? [before, removed[0]] : [state, state.tasks.get(task)]
    if (!shown) throw new TypeError('the task is neither listed nor removed')
    return { task: taskOnWire(known, shown), seq: state.seq }
  })
  return value
}
