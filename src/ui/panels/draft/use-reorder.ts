import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { type DropEdge, dropEdge } from './reorder.ts'
import { useTouchDrag } from './use-touch-drag.ts'
import { withDragAndDrop } from './with-drag-and-drop.ts'

interface Reorder {
  readonly item: RefObject<HTMLLIElement | null>
  readonly handle: RefObject<HTMLSpanElement | null>
  readonly edge: DropEdge | undefined
  readonly onKeyDown: (event: KeyboardEvent) => void
}

/** Reorders a row by its handle, or by Alt with an arrow key. Rows move only within the same `list`. */
export function useReorder(
  list: string,
  key: string,
  index: number,
  onMove: (from: { readonly key: string; readonly index: number }, to: number) => void,
): Reorder {
  const item = useRef<HTMLLIElement>(null)
  const handle = useRef<HTMLSpanElement>(null)
  const [edge, setEdge] = useState<DropEdge>()
  // The latest callback, without registering the element again on every render.
  const move = useRef(onMove)
  move.current = onMove
  const drop = useRef((_to: number): void => {})
  drop.current = to => onMove({ key, index }, to)
  useTouchDrag(list, index, item, handle, drop)
  useEffect(() => {
    const element = item.current
    const dragHandle = handle.current
    if (!element || !dragHandle) return
    return withDragAndDrop(({ combine, draggable, dropTargetForElements }) =>
      combine(
        draggable({ element, dragHandle, getInitialData: () => ({ runsheetList: list, key, index }) }),
        dropTargetForElements({
          element,
          canDrop: ({ source }) => source.data['runsheetList'] === list && source.data['key'] !== key,
          onDragEnter: ({ source }) => setEdge(dropEdge(Number(source.data['index']), index)),
          onDragLeave: () => setEdge(undefined),
          onDrop: ({ source }) => {
            setEdge(undefined)
            move.current({ key: String(source.data['key']), index: Number(source.data['index']) }, index)
          },
        }),
      ),
    )
  }, [list, key, index])
  const onKeyDown = (event: KeyboardEvent): void => {
    // In a select these keys open the list.
    if (event.target instanceof HTMLSelectElement) return
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    onMove({ key, index }, index + (event.key === 'ArrowUp' ? -1 : 1))
  }
  return { item, handle, edge, onKeyDown }
}
