import type { EventType, StoredEvent, Verdict } from './event.ts'
import { isOpen, type TaskStatus } from './task.ts'

/** How an assessor did, by what persons made of its verdicts. */
export interface Judgement {
  readonly judged: number
  readonly ok: number
  readonly not_ok: number
  readonly unknown: number
  /** Persons who said otherwise: the two kinds below. */
  readonly overruled: number
  /** It passed what a person then reopened. */
  readonly false_passes: number
  /** It turned down what a person then marked done. */
  readonly false_rejects: number
}

export const JUDGED: readonly EventType[] = ['task_assessed', 'task_changed']

const NONE = { judged: 0, ok: 0, not_ok: 0, unknown: 0, overruled: 0, false_passes: 0, false_rejects: 0 }

/** The judgements of a conversation's log, by the assessor's model, added to those that were known. */
export function judgementsIn(
  events: readonly StoredEvent[],
  known: ReadonlyMap<string, Judgement> = new Map(),
): Map<string, Judgement> {
  const all = new Map(known)
  const standing = new Map<string, { readonly verdict: Verdict; readonly model: string }>()
  const count = (model: string, ...fields: readonly (keyof Judgement)[]): void => {
    const counted: Record<keyof Judgement, number> = { ...(all.get(model) ?? NONE) }
    for (const field of fields) counted[field] += 1
    all.set(model, counted)
  }
  for (const event of events) {
    if (event.type === 'task_assessed') {
      const { task_id, verdict, model } = event.data
      count(model, 'judged', verdict)
      standing.set(task_id, { verdict, model })
    } else if (event.type === 'task_changed' && event.data.by === 'person') {
      const { task, from } = event.data
      const last = standing.get(task.id)
      const kind = last && overruling(last.verdict, from['status'] as TaskStatus | undefined, task.status)
      if (!last || !kind) continue
      count(last.model, 'overruled', kind)
      // A verdict is overruled once, however often the person changes their mind.
      standing.delete(task.id)
    }
  }
  return all
}

function overruling(
  verdict: Verdict,
  from: TaskStatus | undefined,
  to: TaskStatus,
): 'false_passes' | 'false_rejects' | undefined {
  if (from === undefined) return undefined
  if (verdict === 'ok') return !isOpen({ status: from }) && isOpen({ status: to }) ? 'false_passes' : undefined
  return verdict === 'not_ok' && to === 'completed' ? 'false_rejects' : undefined
}
