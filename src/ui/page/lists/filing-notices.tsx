import { X } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { errorText } from 'runsheet/react'
import type { PageStrings } from '../texts/page-strings.ts'
import type { FilingHandle } from './use-filing.ts'
import { filingStrings } from '../texts/english-filing.ts'

interface FilingNoticesProps {
  readonly strings: PageStrings
  readonly filing: FilingHandle
}

const UNDO_MS = 10_000

export function FilingNotices({ strings, filing: { list, actions, failure } }: FilingNoticesProps): ReactElement {
  const words = filingStrings(strings)
  const { archived, forget } = list
  return (
    <div className="app-toasts">
      <div role="status">
        {archived && (
          <Toast key={archived.session_id} strings={strings} afterMs={UNDO_MS} onClose={forget}>
            <span className="app-toast-text">{words.archivedNow(archived.title ?? strings.untitled)}</span>
            <button type="button" className="rs-button" onClick={() => void actions.undo()}>
              {words.undo}
            </button>
          </Toast>
        )}
      </div>
      {failure && (
        <div role="alert">
          <Toast strings={strings} onClose={actions.forgetFailure}>
            <span className="app-toast-text">
              {failure.title !== undefined && `${words.notRenamed(failure.title)} `}
              {errorText(strings.panels, failure.error)}
            </span>
            <button type="button" className="rs-button" onClick={failure.retry}>
              {strings.retry}
            </button>
          </Toast>
        </div>
      )}
    </div>
  )
}

interface ToastProps {
  readonly strings: PageStrings
  /** Dismisses itself, unless it has the pointer or the focus. */
  readonly afterMs?: number
  readonly onClose: () => void
  readonly children: React.ReactNode
}

function Toast({ strings, afterMs, onClose, children }: ToastProps): ReactElement {
  const [isHeld, setHeld] = useState(false)
  const toast = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The row that had the focus is gone.
    if (document.activeElement === document.body) toast.current?.querySelector('button')?.focus()
  }, [])
  useEffect(() => {
    if (isHeld || afterMs === undefined) return
    const timer = setTimeout(onClose, afterMs)
    return () => clearTimeout(timer)
  }, [isHeld, afterMs, onClose])
  return (
    <div
      ref={toast}
      className="app-toast"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      {children}
      <button type="button" className="rs-icon" aria-label={strings.close} title={strings.close} onClick={onClose}>
        <X size={16} aria-hidden="true" />
      </button>
    </div>
  )
}
