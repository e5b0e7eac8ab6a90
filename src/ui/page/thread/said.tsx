import { lazy, type ReactElement, Suspense } from 'react'
import { loadPart } from '../parts/load-part.ts'
import { beginningOf } from './long-text.tsx'
import type { PageStrings } from '../texts/page-strings.ts'

const Markdown = lazy(() => loadPart(() => import('./markdown.tsx')))

interface SaidProps {
  readonly text: string
  readonly strings: PageStrings
  readonly isStreaming?: boolean
}

export default function Said({ strings, ...said }: SaidProps): ReactElement {
  return (
    <Suspense
      fallback={
        <p className="app-plain" dir="auto">
          {beginningOf(said.text).beginning}
        </p>
      }
    >
      <Markdown {...said} strings={strings} />
    </Suspense>
  )
}
