type DragAndDrop = typeof import('./drag-and-drop.ts')

/**
 * Registers elements for drag and drop; call it in an effect. The library loads when a list is shown: reading does not
 * need it, and buttons and keys move rows without it.
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
