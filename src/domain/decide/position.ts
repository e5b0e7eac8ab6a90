/** A number between two neighbours; undefined where no more fits and the list has to be numbered anew. */
export function between(previous: number | undefined, next: number | undefined): number | undefined {
  if (previous === undefined && next === undefined) return 1
  if (previous === undefined) return Math.ceil(next ?? 1) - 1
  if (next === undefined) return Math.floor(previous) + 1
  const middle = (previous + next) / 2
  return previous < middle && middle < next ? middle : undefined
}

/**
 * Where new items come to stand in a plan. Those without an order go to the end; then each order, a 1-based place,
 * is taken up (clamped, ties in input order). `before` is the item that it is put in front of.
 */
export function places<T>(
  plan: readonly T[],
  items: readonly { readonly item: T; readonly order: number | undefined }[],
): { item: T; before: T | undefined }[] {
  const appended = items.filter(({ order }) => order === undefined)
  const ordered = items
    .filter((entry): entry is { item: T; order: number } => entry.order !== undefined)
    .sort((a, b) => a.order - b.order)
  const list = [...plan, ...appended.map(({ item }) => item)]
  const placed = appended.map(({ item }) => ({ item, before: undefined as T | undefined }))
  let least = 0
  for (const { item, order } of ordered) {
    const index = Math.min(Math.max(order - 1, least), list.length)
    placed.push({ item, before: list[index] })
    list.splice(index, 0, item)
    least = index + 1
  }
  return placed
}
