import { Sparkles, X } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { conversationStrings } from '../texts/english-conversation.ts'
import './demo-banner.css'
import type { PageStrings } from '../texts/page-strings.ts'

const KEY = 'runsheet.demo-hidden'

interface DemoBannerProps {
  readonly strings: PageStrings
  readonly hasSandbox: boolean
  readonly onSettings: () => void
}

export default function DemoBanner({ strings, hasSandbox, onSettings }: DemoBannerProps): ReactElement | null {
  const words = conversationStrings(strings)
  const [isHidden, setHidden] = useState(() => sessionStorage.getItem(KEY) !== null)
  if (isHidden) return null
  const text = hasSandbox ? words.demo : words.demoWithoutSandbox
  return (
    <aside className="app-banner" aria-label={text}>
      <Sparkles size={16} aria-hidden="true" />
      <span>{text}</span>
      <button type="button" className="rs-button rs-small" onClick={onSettings}>
        {words.connectModel}
      </button>
      <button
        type="button"
        className="rs-icon"
        aria-label={words.dismiss}
        title={words.dismiss}
        onClick={() => {
          sessionStorage.setItem(KEY, '1')
          setHidden(true)
        }}
      >
        <X size={16} aria-hidden="true" />
      </button>
    </aside>
  )
}
