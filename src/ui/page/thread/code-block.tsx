import { type ReactElement, useEffect, useMemo, useState } from 'react'
import { conversationStrings } from '../texts/english-conversation.ts'
import { CopyButton } from './copy-button.tsx'
import type { PageStrings } from '../texts/page-strings.ts'

/** Longer code stays plain: highlighting it would block the page. */
const MAX_HIGHLIGHTED = 20_000

type Highlighted = typeof import('./highlight.tsx').highlighted
/** Loaded with the first block that names a language, then shared. */
let loaded: Highlighted | undefined

interface CodeBlockProps {
  readonly code: string
  readonly language: string | undefined
  readonly strings: PageStrings
}

export function CodeBlock({ code, language, strings }: CodeBlockProps): ReactElement {
  const words = conversationStrings(strings)
  const [highlighted, setHighlighted] = useState(() => loaded)
  const canHighlight = language !== undefined && code.length <= MAX_HIGHLIGHTED
  useEffect(() => {
    if (highlighted || !canHighlight) return
    let isCurrent = true
    import('./highlight.tsx').then(
      part => {
        loaded = part.highlighted
        if (isCurrent) setHighlighted(() => part.highlighted)
      },
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [highlighted, canHighlight])
  const shown = useMemo(
    () => (canHighlight && highlighted ? highlighted(code, language) : undefined),
    [canHighlight, highlighted, code, language],
  )
  return (
    <div className="app-code">
      <div className="app-code-head">
        <span>{language ?? words.code}</span>
        <CopyButton text={code} strings={strings} label={words.copyCode} />
      </div>
      <pre tabIndex={0}>
        <code>{shown ?? code}</code>
      </pre>
    </div>
  )
}
