import { useState } from 'react'
import type { Client } from '../../../client/client.ts'
import type { Review } from '../../../core/model/review.ts'
import { errorText } from '../texts/error-text.ts'
import { useStrings } from '../texts/strings.ts'

/** Extends a review that has a deadline. */
export interface MoreTime {
  /** Moves the deadline to `ms` from now, by default to the original duration. Every window sees it. */
  readonly extend: (ms?: number) => Promise<void>
  readonly isBusy: boolean
  /** Why the extension was refused. */
  readonly error: string | undefined
}

/** Undefined for a review without a deadline. `onRefresh` reloads the log, which may already contain the decision. */
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
