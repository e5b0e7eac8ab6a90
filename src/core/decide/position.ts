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
