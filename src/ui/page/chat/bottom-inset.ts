import type { CSSProperties } from 'react'

export function bottomInset(coveredPx: number): CSSProperties {
  // Not padding: in a low window that would make the scroller higher than the window.
  return { '--app-covered': `${coveredPx}px`, scrollPaddingBottom: coveredPx + 20 } as CSSProperties
}
