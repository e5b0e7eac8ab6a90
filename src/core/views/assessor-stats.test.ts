import { describe, expect, it } from 'vitest'
import { assessorStats } from './assessor-stats.ts'
import type { StoredEvent } from '../model/event.ts'
import type { TaskStatus } from '../model/task.ts'

let seq = 0
const event = (type: string, data: object): StoredEvent => {
  const stored: object = { type, data, seq: (seq += 1), timestamp: '', session_id: 'c', turn_id: 't' }
  return stored as StoredEvent
}
const judged = (task_id: string, verdict: string, model = 'm'): StoredEvent =>
  event('task_assessed', { task_id, verdict, reason: '', model })
const set = (id: string, from: TaskStatus, status: TaskStatus, by = 'person'): StoredEvent =>
  event('task_changed', { task: { id, status }, by, from: { status: from } })

describe('assessor stats', () => {
  it('counts verdicts by the model that gave them', () => {
    const events = [judged('a', 'ok'), judged('b', 'not_ok'), judged('b', 'unknown'), judged('c', 'ok', 'other')]
    expect(Object.fromEntries(assessorStats.of(events).models.entries())).toEqual({
      m: { judged: 3, ok: 1, not_ok: 1, unknown: 1, overruled: 0, false_passes: 0, false_rejects: 0 },
      other: { judged: 1, ok: 1, not_ok: 0, unknown: 0, overruled: 0, false_passes: 0, false_rejects: 0 },
    })
  })

  it.each([
    ['reopened what it passed', 'ok', 'completed', 'pending', { overruled: 1, false_passes: 1, false_rejects: 0 }],
    ['reopened what it let be cancelled', 'ok', 'cancelled', 'pending', { overruled: 1, false_passes: 1 }],
    ['marked done what it turned down', 'not_ok', 'in_progress', 'completed', { overruled: 1, false_rejects: 1 }],
    ['marked done what it blocked', 'not_ok', 'blocked', 'completed', { overruled: 1, false_rejects: 1 }],
    ['cancelled what it turned down', 'not_ok', 'pending', 'cancelled', { overruled: 0 }],
    ['marked done what it could not judge', 'unknown', 'in_progress', 'completed', { overruled: 0 }],
  ] as const)('a person %s', (_, verdict, from, to, counted) => {
    const events = [judged('a', verdict), set('a', from, to)]
    expect(assessorStats.of(events).models.get('m')).toMatchObject(counted)
  })

  it('a verdict is overruled once, and only by a person', () => {
    const again = [judged('a', 'ok'), set('a', 'completed', 'pending'), set('a', 'completed', 'pending')]
    expect(assessorStats.of(again).models.get('m')).toMatchObject({ overruled: 1 })
    const byModel = [judged('a', 'ok'), set('a', 'completed', 'pending', 'model')]
    expect(assessorStats.of(byModel).models.get('m')).toMatchObject({ overruled: 0 })
  })

  it('adds to what is known of other conversations', () => {
    const known = assessorStats.of([judged('a', 'ok')])
    expect(assessorStats.apply(known, judged('b', 'ok')).models.get('m')).toMatchObject({ judged: 2, ok: 2 })
  })
})
