import { Button } from 'runsheet/react'
import { type ReactElement, useState } from 'react'
import { usePageStrings } from '../texts/strings.ts'

/** Characters shown at first: parsing or laying out more would block the page. */
const MAX_SHOWN = 30_000

/** Characters per block; each block is laid out when it becomes visible. */
const PIECE = 5_000

export function beginningOf(text: string): { readonly beginning: string; readonly rest: string } {
  const end = text.length > MAX_SHOWN ? breakBefore(text, MAX_SHOWN) : text.length
  return { beginning: text.slice(0, end), rest: text.slice(end) }
}

export function Rest({ text }: { readonly text: string }): ReactElement | null {
  const strings = usePageStrings()
  const [isShown, setShown] = useState(false)
  if (text === '') return null
  if (isShown) {
    return (
      <pre className="app-rest" tabIndex={0} ref={takeFocus}>
        {piecesOf(text).map((piece, index) => (
          <span key={index} dir="auto">
            {piece}
          </span>
        ))}
      </pre>
    )
  }
  return (
    <p>
      <Button onClick={() => setShown(true)}>{strings.showRest(text.length)}</Button>
    </p>
  )
}

/** Replaces the focused button. A module-level function, because React calls a new ref callback with every render. */
const takeFocus = (element: HTMLElement | null): void => element?.focus({ preventScroll: true })

function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; ) {
    const end = text.length - start > PIECE ? breakBefore(text, start + PIECE, start) : text.length
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

/** Prefers the last paragraph, line or word break before `place`. */
function breakBefore(text: string, place: number, start = 0): number {
  const least = start + (place - start) / 2
  for (const each of ['\n\n', '\n', ' ']) {
    const found = text.lastIndexOf(each, place - 1)
    if (found > least) return found + (each === ' ' ? 1 : each.length)
  }
  // Never split a surrogate pair.
  return /[\ud800-\udbff]/.test(text.charAt(place - 1)) ? place - 1 : place
}
