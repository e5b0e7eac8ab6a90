import { lazy, type ReactElement, Suspense } from 'react'
import { loadPart } from '../load-part.ts'
import { beginningOf } from './long-text.tsx'

const Markdown = lazy(() => loadPart(() => import('./markdown.tsx')))

interface SaidProps {
  readonly text: string
  readonly isStreaming?: boolean
}

export function Said(said: SaidProps): ReactElement {
  return (
    <Suspense
      fallback={
        <p className="app-plain" dir="auto">
          {beginningOf(said.text).beginning}
        </p>
      }
    >
      <Markdown {...said} />
    </Suspense>
  )
}
