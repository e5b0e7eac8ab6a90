import { type ReactElement, useState } from 'react'

/** Characters of a text that are shown at once: to parse or lay out more would block the page. */
const MAX_SHOWN = 30_000
/** Characters that are laid out together, once they come into sight. */
const PIECE = 5_000

/** The beginning of a text that is shown at once, and the rest. */
export function beginningOf(text: string): { readonly beginning: string; readonly rest: string } {
  const end = text.length > MAX_SHOWN ? breakBefore(text, MAX_SHOWN) : text.length
  return { beginning: text.slice(0, end), rest: text.slice(end) }
}

interface RestProps {
  readonly text: string
  /** The button that shows it. */
  readonly showRest: (characters: number) => string
}

/** The rest of a long text, as plain text, once it is asked for. */
export function Rest({ text, showRest }: RestProps): ReactElement | null {
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
      <button type="button" className="rs-button" onClick={() => setShown(true)}>
        {showRest(text.length)}
      </button>
    </p>
  )
}

/** The button that had the focus is gone. One function, since React calls a new one with every render. */
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

/** After the last paragraph or line, else the last word, that ends before a place. */
function breakBefore(text: string, place: number, start = 0): number {
  const least = start + (place - start) / 2
  for (const each of ['\n\n', '\n', ' ']) {
    const found = text.lastIndexOf(each, place - 1)
    if (found > least) return found + (each === ' ' ? 1 : each.length)
  }
  // Never half a character.
  return /[\ud800-\udbff]/.test(text.charAt(place - 1)) ? place - 1 : place
}
