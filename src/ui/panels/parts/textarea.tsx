import type { ComponentProps, KeyboardEvent } from 'react'
import { type ReactElement, type RefObject, useLayoutEffect, useRef } from 'react'

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
