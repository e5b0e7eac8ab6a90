import { invalidField, type Refusal } from '../domain/refusal.ts'
import type { ConversationSummary, Page, Paged } from './store.ts'

/** The values that an item is sorted by. A cursor encodes those of the last item of a page. */
export type SortKey = readonly (string | number)[]

/** The orders of the lists of conversations, newest first. */
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

export function encodeCursor(key: SortKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/** The sort key in a page's cursor. Throws if the cursor does not fit this list. */
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

/** A page of `limit` items; `rows` holds one more if there is a next page. */
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

/** A page of items that may be large has at most so many bytes, or one item. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** How many of the items, in order, fit into so many bytes; the first one always does. */
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

/** Sorts `rows` and cuts a page out of them. */
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

export function compareSortKeys(a: SortKey, b: SortKey): number {
  for (const [index, left] of a.entries()) {
    const right = b[index]
    if (right !== undefined && left !== right) return left < right ? -1 : 1
  }
  return 0
}

/** Our cursors are plain ASCII: anything else could trip a database. */
const fits = (value: unknown, kind: string | undefined): boolean =>
  typeof value === kind && (typeof value !== 'string' || /^[\x20-\x7e]*$/.test(value))

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}
