import type { StoredEvent, Verdict } from '../model/event.ts'
import { projection } from '../model/log.ts'
import { Table } from '../model/table.ts'
import { isOpen, type TaskStatus } from '../model/task.ts'

/** `false_passes`: the judge passed it, and a person reopened it; `false_rejects`: it rejected it, and a person completed it. */
const ZERO = { judged: 0, ok: 0, not_ok: 0, unknown: 0, overruled: 0, false_passes: 0, false_rejects: 0 }
export type AssessorStats = Readonly<typeof ZERO>

export interface AssessorStatsByModel {
  readonly models: Table<AssessorStats>
  /** Task id to its newest verdict; removed once a person overrules it. */
  readonly standing: Table<{ readonly verdict: Verdict; readonly model: string }>
}

export const assessorStats = projection<AssessorStatsByModel>({
  initial: { models: Table.from(), standing: Table.from() },
  on: {
    task_assessed: ({ models, standing }, { data: { task_id, verdict, model } }) => ({
      models: withCounts(models, model, 'judged', verdict),
      standing: standing.with(task_id, { verdict, model }),
    }),
    task_changed: countOverruling,
  },
})

/** Counts each verdict as overruled at most once, however often the person changes the task. */
function countOverruling(
  state: AssessorStatsByModel,
  { data: { task, by, from } }: StoredEvent<'task_changed'>,
): AssessorStatsByModel {
  const last = state.standing.get(task.id)
  const kind = last && by === 'person' ? overruling(last.verdict, from['status'], task.status) : undefined
  if (!last || !kind) return state
  return { models: withCounts(state.models, last.model, 'overruled', kind), standing: state.standing.without(task.id) }
}

function withCounts(
  models: AssessorStatsByModel['models'],
  model: string,
  ...fields: readonly (keyof AssessorStats)[]
): AssessorStatsByModel['models'] {
  const counts: Record<keyof AssessorStats, number> = { ...(models.get(model) ?? ZERO) }
  for (const field of fields) counts[field] += 1
  return models.with(model, counts)
}

function overruling(verdict: Verdict, from: unknown, to: TaskStatus): 'false_passes' | 'false_rejects' | undefined {
  if (from === undefined) return undefined
  if (verdict === 'ok') {
    const wasSettled = !isOpen({ status: from as TaskStatus })
    return wasSettled && isOpen({ status: to }) ? 'false_passes' : undefined
  }
  return verdict === 'not_ok' && to === 'completed' ? 'false_rejects' : undefined
}
