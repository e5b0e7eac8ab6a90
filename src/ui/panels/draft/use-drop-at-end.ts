import { type RefObject, useEffect, useRef } from 'react'
import { withDragAndDrop } from './with-drag-and-drop.ts'

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
    return withDragAndDrop(({ dropTargetForElements }) =>
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
    )
  }, [list, rows])
}
