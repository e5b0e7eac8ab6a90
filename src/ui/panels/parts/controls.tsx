import {
  type ComponentProps,
  type ComponentType,
  type KeyboardEvent,
  type ReactElement,
  type RefObject,
  useLayoutEffect,
  useRef,
} from 'react'

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

/**
 * True if a key press belongs to an input method. Safari ends the composition before its last key event, which it marks
 * with key code 229.
 */
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || nativeEvent.keyCode === 229

export const classNames = (...names: readonly (string | undefined)[]): string => names.filter(Boolean).join(' ')

/** The props of `Button`: those of a `<button>`, and how it looks. */
export interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: 'primary' | 'danger'
  readonly isSmall?: boolean
}

/** A button in the style of the panels. */
export function Button({ kind, isSmall = false, className, ...rest }: ButtonProps): ReactElement {
  const look = classNames('rs-button', isSmall ? 'rs-small' : undefined, kind && `rs-${kind}`, className)
  return <button type="button" {...rest} className={look} />
}

/** The props of `IconButton`: those of a `<button>`, its name and its icon. */
export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'onClick'> {
  readonly label: string
  /** Names the row for screen readers; appended to the label. */
  readonly about?: string
  readonly icon: ComponentType<{ readonly size?: number | string; readonly 'aria-hidden'?: 'true' }>
  readonly size?: number
  /** Uses aria-disabled, so that the button keeps the focus. */
  readonly isDisabled?: boolean
  readonly isExpanded?: boolean
  readonly onAct: () => void
}

/** A button that shows only an icon. */
export function IconButton(props: IconButtonProps): ReactElement {
  const { label, about = '', icon: Icon, size = 16, className, isDisabled = false, isExpanded, onAct, ...rest } = props
  return (
    <button
      type="button"
      className={classNames('rs-icon', className)}
      aria-label={label + about}
      title={label}
      {...(isDisabled ? { 'aria-disabled': true } : {})}
      {...(isExpanded === undefined ? {} : { 'aria-expanded': isExpanded })}
      onClick={() => isDisabled || onAct()}
      {...rest}
    >
      <Icon size={size} aria-hidden="true" />
    </button>
  )
}
