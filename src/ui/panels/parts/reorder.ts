import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react'

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
    return withDragAndDrop(({ draggable, dropTargetForElements }) => [
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
    ])
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

export function useDropAtEnd(
  list: string,
  rows: RefObject<HTMLElement | null>,
  onMove: (from: { readonly key: string; readonly index: number }, to: number) => void,
): void {
  const move = useRef(onMove)
  move.current = onMove
  useEffect(() => {
    const container = rows.current?.parentElement
    if (!container) return
    const lastIndex = (): number => (rows.current?.childElementCount ?? 0) - 1
    let last: Element | null | undefined
    const leave = (): void => last?.classList.remove('rs-drop-after')
    return withDragAndDrop(({ dropTargetForElements }) => [
      dropTargetForElements({
        element: container,
        canDrop: ({ source: { data }, input }) =>
          data['runsheetList'] === list &&
          Number(data['index']) < lastIndex() &&
          input.clientY > (rows.current?.lastElementChild?.getBoundingClientRect().bottom ?? Infinity),
        onDragEnter: () => {
          last = rows.current?.lastElementChild
          last?.classList.add('rs-drop-after')
        },
        onDragLeave: leave,
        onDrop: ({ source: { data } }) => {
          leave()
          move.current({ key: String(data['key']), index: Number(data['index']) }, lastIndex())
        },
      }),
    ])
  }, [list, rows])
}

/** Width of the auto-scroll zone at the list's edges, and the distance per frame. */
const SCROLL_ZONE_PX = 36
const SCROLL_STEP_PX = 8

const EDGE_CLASSES = ['rs-drop-before', 'rs-drop-after']

/**
 * Drags a row by its handle with a finger. Native drag and drop needs a long press, which people do not expect of a
 * handle, and some browsers lack it.
 */
function useTouchDrag(
  list: string,
  index: number,
  item: RefObject<HTMLElement | null>,
  handle: RefObject<HTMLElement | null>,
  onDrop: RefObject<(to: number) => void>,
): void {
  useEffect(() => {
    const element = item.current
    const dragHandle = handle.current
    if (!element || !dragHandle) return
    Object.assign(element.dataset, { list, index: String(index) })
    let target: HTMLElement | undefined
    const setTarget = (row: HTMLElement | undefined): void => {
      target?.classList.remove(...EDGE_CLASSES)
      target = row === element ? undefined : row
      target?.classList.add(`rs-drop-${dropEdge(index, indexOf(target))}`)
    }
    let finger = { clientX: 0, clientY: 0 }
    let frame = 0
    let scroller: HTMLElement | undefined
    const scroll = (): void => {
      const { top = 0, bottom = 0 } = scroller?.getBoundingClientRect() ?? {}
      const before = scroller?.scrollTop
      if (finger.clientY > bottom - SCROLL_ZONE_PX) scroller?.scrollBy(0, SCROLL_STEP_PX)
      else if (finger.clientY < top + SCROLL_ZONE_PX) scroller?.scrollBy(0, -SCROLL_STEP_PX)
      if (scroller?.scrollTop !== before) findTarget()
      frame = requestAnimationFrame(scroll)
    }
    const move = ({ clientX, clientY }: PointerEvent): void => {
      finger = { clientX, clientY }
      findTarget()
      // A finger that rests near the edge does not scroll before it moves.
      if (frame === 0) frame = requestAnimationFrame(scroll)
    }
    const findTarget = (): void => {
      const { clientX, clientY } = finger
      const row = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>(`[data-list="${list}"]`)
      // Between and beside rows the last target stays.
      if (row && row !== target) setTarget(row)
    }
    const end = (event: PointerEvent): void => {
      const to = event.type === 'pointerup' && target ? indexOf(target) : undefined
      setTarget(undefined)
      element.classList.remove('rs-dragged')
      dragHandle.removeEventListener('pointermove', move)
      cancelAnimationFrame(frame)
      frame = 0
      if (to !== undefined) onDrop.current(to)
    }
    const start = (event: PointerEvent): void => {
      if (event.pointerType !== 'touch' || !event.isPrimary) return
      dragHandle.setPointerCapture(event.pointerId)
      element.classList.add('rs-dragged')
      dragHandle.addEventListener('pointermove', move)
      scroller = scrollerOf(element)
    }
    dragHandle.addEventListener('pointerdown', start)
    dragHandle.addEventListener('pointerup', end)
    dragHandle.addEventListener('pointercancel', end)
    return () => {
      cancelAnimationFrame(frame)
      setTarget(undefined)
      element.classList.remove('rs-dragged')
      dragHandle.removeEventListener('pointermove', move)
      dragHandle.removeEventListener('pointerdown', start)
      dragHandle.removeEventListener('pointerup', end)
      dragHandle.removeEventListener('pointercancel', end)
    }
  }, [list, index, item, handle, onDrop])
}

function scrollerOf(element: HTMLElement): HTMLElement | undefined {
  for (let parent = element.parentElement; parent; parent = parent.parentElement) {
    if (parent.scrollHeight > parent.clientHeight && getComputedStyle(parent).overflowY !== 'visible') return parent
  }
  return undefined
}

const indexOf = ({ dataset }: HTMLElement): number => Number(dataset['index'])

type DragAndDrop = typeof import('@atlaskit/pragmatic-drag-and-drop/element/adapter')

/**
 * Registers elements for drag and drop; call it in an effect. The library loads when a list is shown: reading does not
 * need it, and buttons and keys move rows without it.
 */
function withDragAndDrop(register: (library: DragAndDrop) => readonly (() => void)[]): () => void {
  let isOver = false
  let registered: readonly (() => void)[] = []
  import('@atlaskit/pragmatic-drag-and-drop/element/adapter').then(
    library => {
      if (!isOver) registered = register(library)
    },
    () => {},
  )
  return () => {
    isOver = true
    for (const unregister of registered) unregister()
  }
}

type DropEdge = 'before' | 'after'

export const dropEdge = (from: number, to: number): DropEdge => (from < to ? 'after' : 'before')

export const edgeClass = (edge: DropEdge | undefined): string => (edge === undefined ? '' : ` rs-drop-${edge}`)
