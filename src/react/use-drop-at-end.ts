import { dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { type RefObject, useEffect, useRef } from 'react'

/** What is around a list takes what is dragged below its last row: there it becomes the last. */
export function useDropAtEnd(
  list: string,
  rows: RefObject<HTMLElement | null>,
  onMove: (from: { readonly key: string; readonly place: number }, to: number) => void,
): void {
  const move = useRef(onMove)
  move.current = onMove
  useEffect(() => {
    const around = rows.current?.parentElement
    if (!around) return
    const end = (): number => (rows.current?.childElementCount ?? 0) - 1
    let last: Element | null | undefined
    const leave = (): void => last?.classList.remove('rs-drop-after')
    return dropTargetForElements({
      element: around,
      canDrop: ({ source: { data }, input }) =>
        data['runsheetList'] === list &&
        Number(data['place']) < end() &&
        input.clientY > (rows.current?.lastElementChild?.getBoundingClientRect().bottom ?? Infinity),
      onDragEnter: () => {
        last = rows.current?.lastElementChild
        last?.classList.add('rs-drop-after')
      },
      onDragLeave: leave,
      onDrop: ({ source: { data } }) => {
        leave()
        move.current({ key: String(data['key']), place: Number(data['place']) }, end())
      },
    })
  }, [list, rows])
}
