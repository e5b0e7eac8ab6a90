import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine'
import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { useTouchDrag } from './use-touch-drag.ts'

interface Reorder {
  readonly item: RefObject<HTMLLIElement | null>
  readonly handle: RefObject<HTMLSpanElement | null>
  /** The edge at which what is dragged over it would come to stand. */
  readonly edge: 'before' | 'after' | undefined
  readonly onKeyDown: (event: KeyboardEvent) => void
}

/** One row of a list that is reordered by its handle, or by Alt and an arrow. `list` keeps lists apart. */
export function useReorder(
  list: string,
  key: string,
  place: number,
  onMove: (from: { readonly key: string; readonly place: number }, to: number) => void,
): Reorder {
  const item = useRef<HTMLLIElement>(null)
  const handle = useRef<HTMLSpanElement>(null)
  const [edge, setEdge] = useState<Reorder['edge']>()
  // The newest one, without taking the element in hand again at every stroke.
  const move = useRef(onMove)
  move.current = onMove
  const drop = useRef((_to: number): void => {})
  drop.current = to => onMove({ key, place }, to)
  useTouchDrag(list, place, item, handle, drop)
  useEffect(() => {
    const element = item.current
    const dragHandle = handle.current
    if (!element || !dragHandle) return
    return combine(
      draggable({ element, dragHandle, getInitialData: () => ({ runsheetList: list, key, place }) }),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => source.data['runsheetList'] === list && source.data['key'] !== key,
        onDragEnter: ({ source }) => setEdge(Number(source.data['place']) < place ? 'after' : 'before'),
        onDragLeave: () => setEdge(undefined),
        onDrop: ({ source }) => {
          setEdge(undefined)
          move.current({ key: String(source.data['key']), place: Number(source.data['place']) }, place)
        },
      }),
    )
  }, [list, key, place])
  const onKeyDown = (event: KeyboardEvent): void => {
    // In a select it is the key that opens it.
    if (event.target instanceof HTMLSelectElement) return
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    onMove({ key, place }, place + (event.key === 'ArrowUp' ? -1 : 1))
  }
  return { item, handle, edge, onKeyDown }
}

export const edgeClass = (edge: Reorder['edge']): string => (edge === undefined ? '' : ` rs-drop-${edge}`)
