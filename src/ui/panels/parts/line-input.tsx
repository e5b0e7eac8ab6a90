import { type ReactElement, useEffect, useId, useRef, useState } from 'react'
import { Plus } from 'lucide-react'
import { Button, isComposing } from './controls.tsx'
import { useStrings } from '../texts/strings.ts'
import { useFocusOn } from './hooks.ts'

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

interface AddCheckProps {
  /** Names the row for screen readers; appended to the label. */
  readonly about: string
  readonly commands?: readonly string[]
  /** Reports the typed text, which blur adds. */
  readonly onType?: (line: string) => void
  /** Resolves to whether it was added; if not, the line is restored. */
  readonly onAdd: (line: string, isHidden: boolean) => Promise<boolean> | void
}

export function AddCheck({ about, commands = [], onType, onAdd }: AddCheckProps): ReactElement {
  const { checks } = useStrings()
  const [line, setLine] = useState<string>()
  const [isHidden, setHidden] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const focusOn = useFocusOn(place)
  useEffect(() => {
    if (line === undefined) return
    onType?.(line)
    return () => onType?.('')
  }, [line])
  const done = async (typed: string | undefined, isByKey: boolean): Promise<void> => {
    setLine(undefined)
    if (isByKey) focusOn('button')
    if (typed === undefined || typed.trim() === '') return
    if ((await onAdd(typed, isHidden)) === false) setLine(typed)
  }
  const button = (label: string, hides: boolean): ReactElement => (
    <Button
      isSmall
      aria-label={label + about}
      onClick={() => {
        setHidden(hides)
        setLine('')
      }}
    >
      <Plus size={14} aria-hidden="true" /> {label}
    </Button>
  )
  return (
    <div className="rs-add-check" ref={place}>
      {line === undefined ? (
        <>
          {button(checks.add, false)}
          {button(checks.addHidden, true)}
        </>
      ) : (
        <LineInput
          className="rs-code"
          label={(isHidden ? checks.addHidden : checks.add) + about}
          placeholder={checks.addInput(commands[0] ?? 'npm test')}
          options={commands}
          text={line}
          onText={setLine}
          onDone={done}
        />
      )}
    </div>
  )
}
