/** Unchanged if an index is out of range. */
export function moveItem<T>(items: readonly T[], from: number, to: number): readonly T[] {
  const item = items[from]
  if (item === undefined || to < 0 || to >= items.length) return items
  return items.toSpliced(from, 1).toSpliced(to, 0, item)
}

export type DropEdge = 'before' | 'after'

export const dropEdge = (from: number, to: number): DropEdge => (from < to ? 'after' : 'before')

export const edgeClass = (edge: DropEdge | undefined): string => (edge === undefined ? '' : ` rs-drop-${edge}`)
