import { Bell } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { useNotifying } from './call-prefs.ts'
import { englishCalls } from '../texts/english-small-parts.ts'
import type { PageStrings } from '../texts/page-strings.ts'
import './calls.css'

/** The browser's own prompt appears only after the person accepts. */
export function CallOffer({ strings }: { readonly strings: PageStrings }): ReactElement | null {
  const words = strings.calls ?? englishCalls
  const { state, turnOn, turnOff } = useNotifying()
  const [wasAsked, setAsked] = useState(false)
  if (state === 'ask') {
    const ask = (): void => {
      setAsked(true)
      void turnOn()
    }
    return (
      <div className="app-offer" role="group" aria-label={words.offer}>
        <Bell size={16} aria-hidden="true" />
        <span>{words.offer}</span>
        <button type="button" className="rs-button" onClick={ask}>
          {words.notifyMe}
        </button>
        <button type="button" className="rs-button app-offer-no" onClick={turnOff}>
          {words.notNow}
        </button>
      </div>
    )
  }
  return wasAsked && state === 'denied' ? (
    <p className="app-offer" role="status">
      <Bell size={16} aria-hidden="true" />
      <span>{words.denied}</span>
    </p>
  ) : null
}
