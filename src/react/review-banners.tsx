import type { ReactElement } from 'react'
import type { Revision } from '../domain/revision.ts'
import { useStrings } from './strings.ts'
import type { EarlierEdits } from './use-draft.ts'

interface RevisedPlanProps {
  readonly request: string | undefined
  readonly revision: Revision | undefined
}

/** Says that the plan answers the person's earlier request, and what it no longer has. */
export function RevisedPlan({ request, revision }: RevisedPlanProps): ReactElement {
  const strings = useStrings()
  const removed = revision?.removed ?? []
  return (
    <div className="rs-revision">
      <p dir="auto">
        {strings.revised}
        {request !== undefined && <q>{request}</q>}
      </p>
      {removed.length > 0 && (
        <p>
          {strings.reviewing.noLongerPlanned}:{' '}
          {removed.map((row, index) => (
            <del key={index} dir="auto">
              {row.title}
            </del>
          ))}
        </p>
      )}
    </div>
  )
}

interface RestoreEditsProps {
  readonly edits: EarlierEdits
  readonly onDone: () => void
}

/** Offers the person's edits of an earlier proposal. */
export function RestoreEdits({ edits, onDone }: RestoreEditsProps): ReactElement {
  const strings = useStrings()
  const then = (act: () => void) => () => {
    act()
    onDone()
  }
  return (
    <div className="rs-earlier">
      <span role="status">{strings.earlierEdits}</span>
      <button type="button" className="rs-button" onClick={then(edits.restore)}>
        {strings.restoreEdits}
      </button>
      <button type="button" className="rs-button" onClick={then(edits.discard)}>
        {strings.discard}
      </button>
    </div>
  )
}
