import { type ComponentProps, type ReactElement, type RefObject, useLayoutEffect, useRef } from 'react'

/** A field for text that is as high as what it holds, up to what its style allows. */
export function Growing(props: ComponentProps<'textarea'>): ReactElement {
  const box = useRef<HTMLTextAreaElement>(null)
  useGrowing(box)
  return <textarea ref={box} {...props} />
}

/** For browsers that do not know `field-sizing`: what is confirmed is to be seen there, too. */
export function useGrowing(box: RefObject<HTMLTextAreaElement | null>): void {
  useLayoutEffect(() => {
    const { current: element } = box
    if (!element || CSS.supports('field-sizing', 'content')) return
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight + element.offsetHeight - element.clientHeight}px`
  })
}
