import { invalidField, type Refusal } from '../core/model/refusal.ts'
import type { ConversationSummary, Page, Paged } from './store.ts'
import type { Conversation } from '../core/model/conversation.ts'
import { tasksAt } from '../core/model/plan.ts'
import type { Task, TaskStatus } from '../core/model/task.ts'

/** The values that a list is sorted by. A cursor encodes those of a page's last item. */
export type SortKey = readonly (string | number)[]

export const CONVERSATION_ORDER = {
  created: {
    kinds: ['string', 'string'],
    keyOf: ({ created_at, session_id }: ConversationSummary): SortKey => [created_at, session_id],
  },
  active: {
    kinds: ['number', 'string', 'string'],
    keyOf: ({ pinned, active_at, session_id }: ConversationSummary): SortKey => [pinned ? 1 : 0, active_at, session_id],
  },
} as const

function encodeCursor(key: SortKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

export function decodeCursor(page: Page, kinds: readonly ('string' | 'number')[]): SortKey | undefined {
  if (page.cursor === undefined) return undefined
  const key = parsed(page.cursor)
  if (Array.isArray(key) && key.length === kinds.length && key.every((value, i) => fits(value, kinds[i]))) {
    return key as SortKey
  }
  throw invalidCursor()
}

export const invalidCursor = (): Refusal =>
  invalidField('cursor', { rule: 'invalid', expected: 'a cursor from an earlier page' })

/** Builds a page of `limit` items; `rows` has one more if there is a next page. */
export function paged<R, T>(
  rows: readonly R[],
  limit: number,
  item: (row: R) => T,
  keyOf: (row: R) => SortKey,
): Paged<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(item),
    next_cursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null,
  }
}

/** Limit for pages of items that may be large. One item always fits. */
export const MAX_PAGE_BYTES = 1024 * 1024

export function fitting<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  maxBytes: number = MAX_PAGE_BYTES,
): number {
  let count = 0
  let bytes = 0
  for (const item of items) {
    bytes += sizeOf(item)
    if (bytes > maxBytes && count > 0) break
    count += 1
  }
  return count
}

export function sortedPage<R>(
  rows: readonly R[],
  page: Page,
  kinds: readonly ('string' | 'number')[],
  keyOf: (row: R) => SortKey,
  order: 'ascending' | 'descending',
): Paged<R> {
  const from = decodeCursor(page, kinds)
  const compare = order === 'ascending' ? compareSortKeys : (a: SortKey, b: SortKey): number => compareSortKeys(b, a)
  const rest = rows
    .map(row => ({ row, key: keyOf(row) }))
    .filter(({ key }) => !from || compare(key, from) > 0)
    .sort((a, b) => compare(a.key, b.key))
  return paged(
    rest.slice(0, page.limit + 1),
    page.limit,
    ({ row }) => row,
    ({ key }) => key,
  )
}

function compareSortKeys(a: SortKey, b: SortKey): number {
  for (const [index, left] of a.entries()) {
    const right = b[index]
    if (right !== undefined && left !== right) return left < right ? -1 : 1
  }
  return 0
}

/** Our cursors are plain ASCII; anything else could break a database query. */
const fits = (value: unknown, kind: string | undefined): boolean =>
  typeof value === kind && (typeof value !== 'string' || /^[\x20-\x7e]*$/.test(value))

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

export interface TaskFilter {
  /** Only tasks of the plan that the turn with this id worked from. */
  readonly turn?: string | undefined
  readonly status?: TaskStatus | undefined
}

export function taskPage(state: Conversation, { turn, status }: TaskFilter, page: Page): Paged<Task> {
  const tasks = turn === undefined ? [...state.tasks.values()] : tasksAt(state, turn)
  const wanted = tasks.filter(task => status === undefined || task.status === status)
  return sortedPage(wanted, page, ['number', 'number'], ({ position, number }) => [position, number], 'ascending')
}
