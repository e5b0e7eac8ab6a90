import { TriangleAlert } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import './error-card.css'

interface Action {
  readonly label: string
  readonly open: () => void
}

interface ErrorCardProps {
  readonly title: string
  readonly text: string
  readonly hint?: ReactNode
  readonly role?: 'note' | 'alert'
  readonly settings?: Action | undefined
  readonly retry?: Action | undefined
}

export function ErrorCard({ title, text, hint, role = 'note', settings, retry }: ErrorCardProps): ReactElement {
  return (
    <div className="app-problem" role={role}>
      <TriangleAlert size={16} aria-hidden="true" />
      <div>
        <strong>{title}</strong>
        {text !== title && <p>{text}</p>}
        {hint && <p>{hint}</p>}
      </div>
      <div className="app-problem-actions">
        {settings && (
          <button type="button" className="rs-button rs-small" onClick={settings.open}>
            {settings.label}
          </button>
        )}
        {retry && (
          <button type="button" className="rs-button rs-small" onClick={retry.open}>
            {retry.label}
          </button>
        )}
      </div>
    </div>
  )
}
