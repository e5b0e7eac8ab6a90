import { useState } from 'react'
import type { Client } from '../client/client.ts'
import type { Review } from '../domain/review.ts'
import { errorText } from './error-text.ts'
import { useStrings } from './strings.ts'

/** More time for a review that has a deadline. */
export interface MoreTime {
  /** Moves the deadline, by default so that as much time is left as there was at first. Every window hears of it. */
  readonly extend: (ms?: number) => Promise<void>
  readonly isBusy: boolean
  /** Why it was not given. */
  readonly error: string | undefined
}

/** Undefined for a review without a deadline. `onRefresh` reads the log again, which may hold the decision already. */
export function useMoreTime(client: Client, review: Review | undefined, onRefresh: () => void): MoreTime | undefined {
  const strings = useStrings()
  const [isBusy, setBusy] = useState(false)
  const [failed, setFailed] = useState<{ readonly id: string; readonly message: string }>()
  if (!review || review.expires_at === null) return undefined
  const { review_id: id } = review
  return {
    extend: async ms => {
      if (isBusy) return
      setBusy(true)
      setFailed(undefined)
      try {
        await client.extend(id, ms)
      } catch (error) {
        setFailed({ id, message: errorText(strings, error) })
        onRefresh()
      }
      setBusy(false)
    },
    isBusy,
    error: failed?.id === id ? failed.message : undefined,
  }
}
