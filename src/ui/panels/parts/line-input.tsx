import { type ReactElement, useEffect, useId, useRef } from 'react'
import { isComposing } from './is-composing.ts'

/** The props of `LineInput`. */
export interface LineInputProps {
  readonly label: string
  readonly className?: string
  readonly placeholder?: string
  readonly maxLength?: number
  /** Suggestions for the input. */
  readonly options?: readonly string[]
  readonly text: string
  readonly onText: (text: string) => void
  /** Called with the new text, or with undefined to keep the old one. */
  readonly onDone: (text: string | undefined, isByKey: boolean) => unknown
}

/** Edits one line in place. Enter and blur save it; Escape does not. */
export function LineInput(props: LineInputProps): ReactElement {
  const { label, className = '', placeholder, maxLength, options = [], text, onText, onDone } = props
  const listId = useId()
  const input = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)
  useEffect(() => input.current?.select(), [])
  const done = (typed: string | undefined, isByKey: boolean): void => {
    if (isDone.current) return
    isDone.current = true
    void onDone(typed, isByKey)
  }
  return (
    <form
      className="rs-title-form"
      onSubmit={event => {
        event.preventDefault()
        done(text, true)
      }}
    >
      <input
        ref={input}
        className={`rs-input ${className}`}
        dir="auto"
        aria-label={label}
        placeholder={placeholder}
        maxLength={maxLength}
        list={options.length > 0 ? listId : undefined}
        value={text}
        onChange={event => onText(event.target.value)}
        onKeyDown={event => {
          if (event.key !== 'Escape' || isComposing(event)) return
          event.stopPropagation()
          done(undefined, true)
        }}
        onBlur={() => done(text, false)}
      />
      {options.length > 0 && (
        <datalist id={listId}>
          {options.map(option => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </form>
  )
}
