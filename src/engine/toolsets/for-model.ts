import { specOf } from '../../core/proof/check.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import type { Json } from '../../core/model/event.ts'
import { forAgent } from '../../core/proof/held-out.ts'
import { taskOnWire } from '../../core/proof/standing.ts'
import type { Changes } from '../../core/model/review.ts'
import type { Row } from '../../core/model/row.ts'
import type { Task } from '../../core/model/task.ts'
import type { CheckView, TaskView } from '../../core/views/wire.ts'

/** A check for the model, without its approval hash and this machine's folders and programs. */
type CheckForModel = Omit<CheckView, 'hash' | 'programs' | 'workspace'>
type TaskForModel = Omit<TaskView, 'checks'> & { readonly checks?: readonly CheckForModel[] }

export function taskForModel(state: Conversation, task: Task): TaskForModel {
  const { checks, ...fields } = forAgent(taskOnWire(state, task))
  return checks
    ? {
        ...fields,
        checks: checks.map(({ hash: _hash, programs: _programs, workspace: _workspace, ...check }) => check),
      }
    : fields
}

export function changesForModel({ kept, edited, added, removed, reordered }: Changes): {
  readonly [key: string]: Json
} {
  return {
    kept: kept.map(rowForModel),
    edited: edited.map(({ from, to }) => ({ from: rowForModel(from), to: rowForModel(to) })),
    added: added.map(rowForModel),
    removed: removed.map(rowForModel),
    reordered,
  }
}

const rowForModel = ({ checks, ...row }: Row) => (checks ? { ...row, checks: forAgent(checks).map(specOf) } : row)
