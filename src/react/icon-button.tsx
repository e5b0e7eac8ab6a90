import type { LucideIcon } from 'lucide-react'
import type { ReactElement } from 'react'

interface IconButtonProps {
  readonly label: string
  /** What it is about, for those who do not see where it stands. */
  readonly about: string
  readonly icon: LucideIcon
  readonly className?: string
  /** It stays where it is and keeps the focus, and does nothing. */
  readonly isIdle?: boolean
  readonly isExpanded?: boolean
  readonly onAct: () => void
}

export function IconButton(props: IconButtonProps): ReactElement {
  const { label, about, icon: Icon, className = '', isIdle = false, isExpanded, onAct } = props
  return (
    <button
      type="button"
      className={`rs-icon ${className}`}
      aria-label={`${label}${about}`}
      title={label}
      {...(isIdle ? { 'aria-disabled': true } : {})}
      {...(isExpanded === undefined ? {} : { 'aria-expanded': isExpanded })}
      onClick={() => isIdle || onAct()}
    >
      <Icon size={16} aria-hidden="true" />
    </button>
  )
}
