import { invalidField } from '../domain/refusal.ts'
import type { Page, Paged } from './store.ts'

/** A place in a sorted list: the sort values of its last item. Opaque to clients. */
export type Place = readonly (string | number)[]

export function encodeCursor(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

/** The place that a client hands back, checked against what this list is sorted by. */
export function decodeCursor(page: Page, kinds: readonly ('string' | 'number')[]): Place | undefined {
  if (page.cursor === undefined) return undefined
  const place = parsed(page.cursor)
  if (Array.isArray(place) && place.length === kinds.length && place.every((value, i) => fits(value, kinds[i]))) {
    return place as Place
  }
  throw invalidField('cursor', { rule: 'invalid', expected: 'a cursor from an earlier page' })
}

/** A page of `limit` items out of `rows`, which holds one more if there is a next one. */
export function paged<R, T>(
  rows: readonly R[],
  limit: number,
  item: (row: R) => T,
  place: (row: R) => Place,
): Paged<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(item),
    next_cursor: rows.length > limit && last !== undefined ? encodeCursor(place(last)) : null,
  }
}

/** A page of `rows`, which may come in any order. */
export function sortedPage<R>(
  rows: readonly R[],
  page: Page,
  kinds: readonly ('string' | 'number')[],
  place: (row: R) => Place,
  order: 'ascending' | 'descending',
): Paged<R> {
  const from = decodeCursor(page, kinds)
  const compare = order === 'ascending' ? comparePlaces : (a: Place, b: Place): number => comparePlaces(b, a)
  const behind = rows
    .map(row => ({ row, at: place(row) }))
    .filter(({ at }) => !from || compare(at, from) > 0)
    .sort((a, b) => compare(a.at, b.at))
  return paged(
    behind.slice(0, page.limit + 1),
    page.limit,
    ({ row }) => row,
    ({ at }) => at,
  )
}

export function comparePlaces(a: Place, b: Place): number {
  for (const [index, left] of a.entries()) {
    const right = b[index]
    if (right !== undefined && left !== right) return left < right ? -1 : 1
  }
  return 0
}

/** No place of ours holds a character that a database could choke on. */
const fits = (value: unknown, kind: string | undefined): boolean =>
  typeof value === kind && (typeof value !== 'string' || /^[\x20-\x7e]*$/.test(value))

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}
