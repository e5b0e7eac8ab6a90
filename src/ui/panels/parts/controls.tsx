import { type LucideIcon, Redo2, Undo2 } from 'lucide-react'
import {
  type ComponentProps,
  type KeyboardEvent,
  type ReactElement,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
} from 'react'
import { useStrings } from '../texts/strings.ts'

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

type AutosizeTextareaProps = Omit<ComponentProps<'textarea'>, 'ref'> & {
  readonly ref?: RefObject<HTMLTextAreaElement | null>
}

/** A textarea that grows with its text, up to the `max-height` of its style. */
export function AutosizeTextarea({ ref, ...props }: AutosizeTextareaProps): ReactElement {
  const own = useRef<HTMLTextAreaElement>(null)
  const box = ref ?? own
  useLayoutEffect(() => {
    const { current: element } = box
    // For browsers without `field-sizing: content`, which the style sheet uses.
    if (!element || CSS.supports('field-sizing', 'content')) return
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight + element.offsetHeight - element.clientHeight}px`
  }, [box, props.value])
  return <textarea ref={box} dir="auto" {...props} />
}

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

/**
 * True if a key press belongs to an input method. Safari ends the composition before its last key event, which it marks
 * with key code 229.
 */
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || nativeEvent.keyCode === 229

export const classNames = (...names: readonly (string | undefined)[]): string => names.filter(Boolean).join(' ')

interface UndoButtonsProps {
  readonly canUndo: boolean
  readonly canRedo: boolean
  readonly onUndo: () => void
  readonly onRedo: () => void
}

/** For touch screens, where there is no Ctrl+Z. */
export function UndoButtons({ canUndo, canRedo, onUndo, onRedo }: UndoButtonsProps): ReactElement {
  const { reviewing } = useStrings()
  return (
    <>
      <IconButton label={reviewing.undo} about="" icon={Undo2} isDisabled={!canUndo} onAct={onUndo} />
      <IconButton label={reviewing.redo} about="" icon={Redo2} isDisabled={!canRedo} onAct={onRedo} />
    </>
  )
}
