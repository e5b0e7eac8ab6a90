type DragAndDrop = typeof import('./drag-and-drop.ts')

/**
 * Registers elements for drag and drop, for an effect. The library is loaded once a list is shown: nobody needs it to read
 * the list, and without it buttons and keys still move rows.
 */
export function withDragAndDrop(register: (library: DragAndDrop) => () => void): () => void {
  let isOver = false
  let unregister = (): void => {}
  import('./drag-and-drop.ts').then(
    library => {
      if (!isOver) unregister = register(library)
    },
    () => {},
  )
  return () => {
    isOver = true
    unregister()
  }
}
