import { type ReactElement, type ReactNode, useLayoutEffect, useRef } from 'react'
import './dialogs.css'

interface ModalDialogProps {
  readonly className: string
  readonly label?: string
  readonly labelledBy?: string
  readonly onClose: () => void
  readonly children: (close: () => void) => ReactNode
}

/** The browser's own modal dialog. Escape and a click beside it close it, and the focus returns to where it was. */
export function ModalDialog({ className, label, labelledBy, onClose, children }: ModalDialogProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    if (element && !element.open) element.showModal()
  }, [])
  // The browser says that it is closed only later, when another key may have opened it again.
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
      // What is in the dialog fills it: only the backdrop is the dialog itself.
      onPointerDown={event => event.target === dialog.current && close()}
    >
      {children(close)}
    </dialog>
  )
}
