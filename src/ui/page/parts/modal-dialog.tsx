import { type ReactElement, type ReactNode, useLayoutEffect, useRef } from 'react'
import './dialogs.css'

interface ModalDialogProps {
  readonly className: string
  readonly label?: string
  readonly labelledBy?: string
  readonly onClose: () => void
  readonly children: (close: () => void) => ReactNode
}

/** The browser's modal dialog: Escape and a click on the backdrop close it, and the focus returns. */
export function ModalDialog({ className, label, labelledBy, onClose, children }: ModalDialogProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    if (element && !element.open) element.showModal()
  }, [])
  // Do not wait for the `close` event: it comes late, when another key may have opened the dialog again.
  const close = (): void => {
    dialog.current?.close()
    onClose()
  }
  return (
    <dialog
      ref={dialog}
      className={`app-dialog ${className}`}
      aria-label={label}
      aria-labelledby={labelledBy}
      onClose={onClose}
      onCancel={event => {
        event.preventDefault()
        close()
      }}
      // The content fills the dialog, so only the backdrop has the dialog itself as target.
      onPointerDown={event => event.target === dialog.current && close()}
    >
      {children(close)}
    </dialog>
  )
}
