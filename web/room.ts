import type { CSSProperties } from 'react'

/** Room at the end of what scrolls, for so many pixels that a panel covers. */
export function roomFor(covered: number): CSSProperties {
  // No padding of the scroller's own: in a low window that would make it higher than the window.
  return { '--app-covered': `${covered}px`, scrollPaddingBottom: covered + 20 } as CSSProperties
}
