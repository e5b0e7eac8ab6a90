import type { InsistAnswer } from '../../core/views/wire.ts'
import { taskOnWire } from '../../core/proof/proof-view.ts'
import type { Ref } from '../../store/store.ts'
import type { Door } from './door.ts'

/** Has a disputed task done as it is asked, on a person's behalf. */
export async function insist(
  door: Door,
  ref: Ref,
  task: string | number,
  comment: string | undefined,
): Promise<InsistAnswer> {
  const continuation = { turn_id: door.newId(), message_id: door.newId() }
  const { value } = await door.transact(ref, transaction => {
    const events = transaction.mustRun({ type: 'insist', task, comment, continuation })
    const { state } = transaction
    const [changed] = events.flatMap(({ type, data }) => (type === 'task_changed' ? data.task.id : []))
    const shown = state.tasks.get(changed ?? '')
    if (!shown) throw new TypeError('the task is not listed')
    const isContinued = events.some(({ type }) => type === 'turn_started')
    return {
      task: taskOnWire(state, shown),
      seq: state.seq,
      ...(isContinued ? { turn_id: continuation.turn_id } : {}),
    }
  })
  return value
}
