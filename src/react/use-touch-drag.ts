import { type RefObject, useEffect } from 'react'

/** So near to the edge of what scrolls a finger scrolls it, by so much a frame. */
const NEAR_PX = 36
const STEP_PX = 8

const EDGES = ['rs-drop-before', 'rs-drop-after']

/**
 * Dragging by its handle with a finger. What browsers do by themselves begins with a long press, which nobody expects
 * of a handle, and which not all of them have.
 */
export function useTouchDrag(
  list: string,
  place: number,
  item: RefObject<HTMLElement | null>,
  handle: RefObject<HTMLElement | null>,
  onDrop: RefObject<(to: number) => void>,
): void {
  useEffect(() => {
    const element = item.current
    const dragHandle = handle.current
    if (!element || !dragHandle) return
    Object.assign(element.dataset, { list, place: String(place) })
    let over: HTMLElement | undefined
    const goOver = (row: HTMLElement | undefined): void => {
      over?.classList.remove(...EDGES)
      over = row === element ? undefined : row
      over?.classList.add(placeOf(over) < place ? 'rs-drop-before' : 'rs-drop-after')
    }
    let at = { clientX: 0, clientY: 0 }
    let frame = 0
    let scroller: HTMLElement | undefined
    // A finger that waits at the edge gets to what is beyond it.
    const scroll = (): void => {
      const { top = 0, bottom = 0 } = scroller?.getBoundingClientRect() ?? {}
      const before = scroller?.scrollTop
      if (at.clientY > bottom - NEAR_PX) scroller?.scrollBy(0, STEP_PX)
      else if (at.clientY < top + NEAR_PX) scroller?.scrollBy(0, -STEP_PX)
      if (scroller?.scrollTop !== before) look()
      frame = requestAnimationFrame(scroll)
    }
    const move = ({ clientX, clientY }: PointerEvent): void => {
      at = { clientX, clientY }
      look()
      // Not before it has moved: one that only rests on a row at the edge is no wish to scroll.
      if (frame === 0) frame = requestAnimationFrame(scroll)
    }
    const look = (): void => {
      const { clientX, clientY } = at
      const row = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>(`[data-list="${list}"]`)
      // Between two rows, or beside them, it stays with the last one.
      if (row && row !== over) goOver(row)
    }
    const end = (event: PointerEvent): void => {
      const to = event.type === 'pointerup' && over ? placeOf(over) : undefined
      goOver(undefined)
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
      goOver(undefined)
      element.classList.remove('rs-dragged')
      dragHandle.removeEventListener('pointermove', move)
      dragHandle.removeEventListener('pointerdown', start)
      dragHandle.removeEventListener('pointerup', end)
      dragHandle.removeEventListener('pointercancel', end)
    }
  }, [list, place, item, handle, onDrop])
}

function scrollerOf(element: HTMLElement): HTMLElement | undefined {
  for (let around = element.parentElement; around; around = around.parentElement) {
    if (around.scrollHeight > around.clientHeight && getComputedStyle(around).overflowY !== 'visible') return around
  }
  return undefined
}

const placeOf = ({ dataset }: HTMLElement): number => Number(dataset['place'])
