import type { Json } from '../model/event.ts'
import type { TaskFields } from '../model/fields.ts'
import type { Instant } from '../model/instant.ts'
import { Refusal, inRow } from '../model/refusal.ts'
import { FIELD_NAMES, isOptional } from '../model/row.ts'
import { NEXT, SEALED, isOpen, type Actor, type Task, type TaskStatus } from '../model/task.ts'

export function withStatus(task: Task, status: TaskStatus, by: Actor, now: Instant): Task {
  if (status === task.status) return isConfirmed(task, by) ? { ...task, judged_by: 'person' } : task
  const { completed_at: _completed, ...rest } = isOpen(task) ? task : withoutOutcome(task)
  const judged_by = by === 'person' || by === 'assessor' ? by : null
  switch (status) {
    case 'completed':
    case 'cancelled':
      return { ...rest, status, judged_by, completed_at: now }
    case 'blocked':
      return { ...rest, status, judged_by }
    case 'pending':
    case 'in_progress': {
      const started = status === 'in_progress' ? { started_at: now } : {}
      return { ...rest, status, judged_by: null, ...started }
    }
  }
}

/** A person who completes a done task again takes responsibility for it. */
const isConfirmed = ({ status, judged_by }: Task, by: Actor): boolean =>
  by === 'person' && status === 'completed' && judged_by !== 'person'

/** The previous outcome stays in the log. */
function withoutOutcome({ outcome: _outcome, ...task }: Task): Task {
  return task
}

/** Sets fields. A model that changes a judged field loses the verdict. */
export function withFields(task: Task, fields: Partial<TaskFields>, by: Actor): Task {
  const merged = Object.entries<string | readonly unknown[]>({ ...task, ...fields } as {})
  const next = Object.fromEntries(
    merged.filter(([field, value]) => !ABSENT.has(field) || value.length > 0),
  ) as unknown as Task
  const isSealed = by !== 'model' || SEALED.every(field => task[field] === next[field])
  return task.judged_by === 'assessor' && !isSealed ? { ...next, judged_by: null } : next
}

const ABSENT: ReadonlySet<string> = new Set(['outcome', ...FIELD_NAMES.filter(isOptional)])

function without(task: Task, gone: { readonly [K in keyof Task]?: boolean }): Task {
  return Object.fromEntries(Object.entries(task).filter(([field]) => !gone[field as keyof Task])) as unknown as Task
}

/** Restores former values of fields; null for one that was absent. */
export function withFormer(task: Task, from: { readonly [field: string]: Json }): Task {
  const isAbsent = (field: string): boolean => from[field] === null && field !== 'judged_by'
  const absent = Object.fromEntries(Object.keys(from).map(field => [field, isAbsent(field)]))
  const former = Object.fromEntries(Object.entries(from).filter(([field]) => !isAbsent(field)))
  return { ...without(task, absent), ...(former as Partial<Task>) }
}

export const changedBy = (task: Task, fields: Partial<TaskFields>): ReadonlySet<string> =>
  new Set(Object.keys(difference(task, withFields(task, fields, 'person'))))

/** The previous values of the changed fields; null for a field that was absent. */
export function difference(before: Task, after: Task): { [field: string]: Json } {
  const from: { [field: string]: Json } = {}
  for (const field of Object.keys(after) as (keyof Task)[]) {
    if (!same(before[field], after[field])) from[field] = (before[field] ?? null) as Json
  }
  for (const field of Object.keys(before) as (keyof Task)[]) {
    if (!(field in after)) from[field] = before[field] as Json
  }
  return from
}

/** Deep equality, because some fields are lists. Our own values have their keys in a stable order. */
const same = (a: Task[keyof Task], b: Task[keyof Task]): boolean =>
  a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))

export function notAllowed(task: Task, to: TaskStatus, row: number | undefined): Refusal {
  const { status: from } = task
  return new Refusal('status_not_allowed', {
    ...inRow(row),
    field: 'status',
    task,
    from,
    to,
    allowed: NEXT[from],
  })
}

/** A position between two neighbours; undefined if no float is left between them and the list must be renumbered. */
export function positionBetween(previous: number | undefined, next: number | undefined): number | undefined {
  if (previous === undefined && next === undefined) return 1
  if (previous === undefined) return Math.ceil(next ?? 1) - 1
  if (next === undefined) return Math.floor(previous) + 1
  const middle = (previous + next) / 2
  return previous < middle && middle < next ? middle : undefined
}

/**
 * Places new items in a plan. Items without an order go to the end; then each 1-based order is honoured (clamped, ties
 * in input order). `before` is the item that it is inserted before.
 */
export function placements<T>(
  plan: readonly T[],
  items: readonly { readonly item: T; readonly order: number | undefined }[],
): { item: T; before: T | undefined }[] {
  const appended = items.filter(({ order }) => order === undefined)
  const ordered = items
    .filter((entry): entry is { item: T; order: number } => entry.order !== undefined)
    .sort((a, b) => a.order - b.order)
  const list = [...plan, ...appended.map(({ item }) => item)]
  const placed = appended.map(({ item }) => ({ item, before: undefined as T | undefined }))
  let min = 0
  for (const { item, order } of ordered) {
    const index = Math.min(Math.max(order - 1, min), list.length)
    placed.push({ item, before: list[index] })
    list.splice(index, 0, item)
    min = index + 1
  }
  return placed
}

/** Indexes of a longest increasing subsequence. These can stay in place when a list is reordered. */
export function longestIncreasing(numbers: readonly number[]): Set<number> {
  const tails: number[] = []
  const before: (number | undefined)[] = []
  for (const [place, number] of numbers.entries()) {
    let low = 0
    for (let high = tails.length; low < high; ) {
      const middle = (low + high) >> 1
      if ((numbers[tails[middle] ?? 0] ?? 0) < number) low = middle + 1
      else high = middle
    }
    before[place] = tails[low - 1]
    tails[low] = place
  }
  const rising = new Set<number>()
  for (let place = tails.at(-1); place !== undefined; place = before[place]) rising.add(place)
  return rising
}
