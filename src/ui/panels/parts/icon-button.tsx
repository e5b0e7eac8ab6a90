import type { LucideIcon } from 'lucide-react'
import type { ReactElement } from 'react'

interface IconButtonProps {
  readonly label: string
  /** Names the row for screen readers; appended to the label. */
  readonly about: string
  readonly icon: LucideIcon
  readonly className?: string
  /** Uses aria-disabled, so that the button keeps the focus. */
  readonly isDisabled?: boolean
  readonly isExpanded?: boolean
  readonly onAct: () => void
}

export function IconButton(props: IconButtonProps): ReactElement {
  const { label, about, icon: Icon, className = '', isDisabled = false, isExpanded, onAct } = props
  return (
    <button
      type="button"
      className={`rs-icon ${className}`}
      aria-label={`${label}${about}`}
      title={label}
      {...(isDisabled ? { 'aria-disabled': true } : {})}
      {...(isExpanded === undefined ? {} : { 'aria-expanded': isExpanded })}
      onClick={() => isDisabled || onAct()}
    >
      <Icon size={16} aria-hidden="true" />
    </button>
  )
}
