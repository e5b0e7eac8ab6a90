import { type ReactElement, useState } from 'react'
import type { Client } from '../client/client.ts'
import { clockOf, useNow } from './use-now.ts'
import { useWords } from './words.ts'

const SOON_OVER_MS = 30_000

/** How long there is, to the second; said aloud once, when it is nearly over. */
export function Countdown({ client, until }: { readonly client: Client; readonly until: string }): ReactElement {
  const words = useWords()
  const left = Date.parse(until) - useNow(client, true)
  const isSoonOver = left <= SOON_OVER_MS
  const [said, setSaid] = useState('')
  if (isSoonOver && said === '') setSaid(words.timeLeft(clockOf(left)))
  return (
    <>
      <span className={`rs-countdown${isSoonOver ? ' rs-soon' : ''}`} role="timer">
        {words.timeLeft(clockOf(left))}
      </span>
      <span className="rs-sr" role="status">
        {said}
      </span>
    </>
  )
}
