import { Fragment, type ReactElement } from 'react'
import type { RowComment } from '../../../core/model/review.ts'
import { isUnchanged, type Revision } from '../../../core/views/revision.ts'
import { useStrings } from '../texts/strings.ts'
import type { EarlierEdits } from '../draft/use-draft.ts'

interface RevisedPlanProps {
  readonly request: string | undefined
  readonly onRows: readonly RowComment[]
  readonly revision: Revision
}

export function RevisedPlan({ request, onRows, revision }: RevisedPlanProps): ReactElement {
  const strings = useStrings()
  const { removed } = revision
  const requests = [
    ...(request === undefined ? [] : [request]),
    ...onRows.map(({ title, comment }) => strings.reviewing.aboutStep(title, comment)),
  ]
  return (
    <div className="rs-revision">
      <p>
        {isUnchanged(revision) ? strings.reviewing.unrevised : strings.revised}
        {strings.reviewing.youAsked}
        {requests.map((text, index) => (
          <Fragment key={index}>
            <q dir="auto">{text}</q>{' '}
          </Fragment>
        ))}
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
