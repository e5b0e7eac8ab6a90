import { Undo2 } from 'lucide-react'
import type { ReactElement } from 'react'
import { useStrings } from '../texts/strings.ts'
import type { Rejection } from './use-rejection.ts'

interface RejectedPlanProps {
  readonly rejection: Rejection
  readonly isBusy: boolean
  readonly onUndo: () => void
}

export function RejectedPlan({ rejection, isBusy, onUndo }: RejectedPlanProps): ReactElement {
  const strings = useStrings()
  const { reviewing } = strings
  const seconds = Math.ceil(rejection.remainingMs / 1_000)
  return (
    <div className="rs-rejected">
      <p>
        <span role="status">{reviewing.rejected}</span>{' '}
        <small>{isBusy || seconds === 0 ? strings.sending : reviewing.rejectedIn(seconds)}</small>
      </p>
      <button type="button" className="rs-button" autoFocus aria-disabled={isBusy} onClick={onUndo}>
        <Undo2 size={16} aria-hidden="true" /> {reviewing.undo}
      </button>
    </div>
  )
}
