import { type RefObject, useEffect } from 'react'
import { dropEdge } from './reorder.ts'

/** Width of the auto-scroll zone at the list's edges, and the distance per frame. */
const SCROLL_ZONE_PX = 36
const SCROLL_STEP_PX = 8

const EDGE_CLASSES = ['rs-drop-before', 'rs-drop-after']

/**
 * Drags a row by its handle with a finger. Native drag and drop needs a long press, which people do not expect of a
 * handle, and some browsers lack it.
 */
export function useTouchDrag(
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
