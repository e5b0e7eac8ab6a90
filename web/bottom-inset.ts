import type { CSSProperties } from 'react'

/** Keeps the end of a scroller clear of a panel that covers its bottom. */
export function bottomInset(coveredPx: number): CSSProperties {
  // Not as padding: in a low window that would make the scroller higher than the window.
  return { '--app-covered': `${coveredPx}px`, scrollPaddingBottom: coveredPx + 20 } as CSSProperties
}
