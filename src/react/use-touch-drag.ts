import { type RefObject, useEffect } from 'react'

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
      over?.scrollIntoView({ block: 'nearest' })
    }
    const move = ({ clientX, clientY }: PointerEvent): void => {
      const row = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>(`[data-list="${list}"]`)
      // Between two rows, or beside them, it stays with the last one.
      if (row && row !== over) goOver(row)
    }
    const end = (event: PointerEvent): void => {
      const to = event.type === 'pointerup' && over ? placeOf(over) : undefined
      goOver(undefined)
      element.classList.remove('rs-dragged')
      dragHandle.removeEventListener('pointermove', move)
      if (to !== undefined) onDrop.current(to)
    }
    const start = (event: PointerEvent): void => {
      if (event.pointerType !== 'touch' || !event.isPrimary) return
      dragHandle.setPointerCapture(event.pointerId)
      element.classList.add('rs-dragged')
      dragHandle.addEventListener('pointermove', move)
    }
    dragHandle.addEventListener('pointerdown', start)
    dragHandle.addEventListener('pointerup', end)
    dragHandle.addEventListener('pointercancel', end)
    return () => {
      goOver(undefined)
      element.classList.remove('rs-dragged')
      dragHandle.removeEventListener('pointermove', move)
      dragHandle.removeEventListener('pointerdown', start)
      dragHandle.removeEventListener('pointerup', end)
      dragHandle.removeEventListener('pointercancel', end)
    }
  }, [list, place, item, handle, onDrop])
}

const placeOf = ({ dataset }: HTMLElement): number => Number(dataset['place'])
