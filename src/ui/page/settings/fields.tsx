import { Lock } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import type { LaterStrings } from '../texts/english-later.ts'

interface LockedProps {
  readonly words: LaterStrings['settings']
  readonly by: string | undefined
  /** The value saved by the page, which the option or variable overrides. */
  readonly saved?: string | undefined
  /** Fixed indirectly, together with another setting. */
  readonly goesAlong?: boolean
  readonly id?: string
}

export function Locked({ words, by, saved, goesAlong = false, id }: LockedProps): ReactElement | null {
  if (by === undefined) return null
  return (
    <p className="app-set-locked" {...(id === undefined ? {} : { id })}>
      <Lock size={14} aria-hidden="true" />
      <span>
        {(goesAlong ? words.lockedAlong : by.startsWith('-') ? words.lockedByOption : words.lockedByVariable)(by)}
        {saved !== undefined && ` ${words.savedBelow(saved)}`}
      </span>
    </p>
  )
}

interface SwitchRowProps {
  readonly label: string
  readonly isOn: boolean
  readonly isDisabled?: boolean
  readonly onSwitch: (isOn: boolean) => void
  readonly children?: ReactNode
}

export function SwitchRow({ label, isOn, isDisabled = false, onSwitch, children }: SwitchRowProps): ReactElement {
  return (
    <div className="app-set-row">
      <label className="app-set-switch">
        <span>{label}</span>
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          disabled={isDisabled}
          onChange={event => onSwitch(event.target.checked)}
        />
      </label>
      {children}
    </div>
  )
}

export function Hint({ children }: { readonly children: ReactNode }): ReactElement {
  return <p className="app-set-hint">{children}</p>
}
