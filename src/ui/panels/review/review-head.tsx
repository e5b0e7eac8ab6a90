import { LayoutTemplate, RotateCcw, SquareCheck } from 'lucide-react'
import type { ReactElement } from 'react'
import { Countdown } from '../parts/countdown.tsx'
import { MenuButton } from '../parts/menu-button.tsx'
import { useStrings } from '../texts/strings.ts'
import { UndoButtons } from '../draft/undo-buttons.tsx'
import type { ReviewHandle } from './use-review.ts'
import type { RowEditing } from '../draft/use-row-editing.ts'

interface ReviewHeadProps {
  readonly handle: ReviewHandle
  readonly editing: RowEditing
  readonly headingId: string
  readonly onTemplates: () => void
}

export function ReviewHead({ handle, editing, headingId, onTemplates }: ReviewHeadProps): ReactElement {
  const strings = useStrings()
  const { reviewing } = strings
  const { review, rows, canUndo, canRedo } = handle
  return (
    <header className="rs-review-head">
      <h2 id={headingId}>
        {strings.review} <span>· {reviewing.steps(rows.length)}</span>
      </h2>
      {review?.expires_at != null && <Countdown remainingMs={handle.remainingMs} moreTime={handle.moreTime} />}
      <div className="rs-actions">
        {(canUndo || canRedo) && (
          <UndoButtons
            canUndo={canUndo}
            canRedo={canRedo}
            onUndo={() => void editing.undo()}
            onRedo={() => void editing.redo()}
          />
        )}
        <MenuButton
          label={strings.moreActions}
          items={() => [
            {
              label: reviewing.selectAll,
              icon: SquareCheck,
              isDisabled: rows.length === 0,
              onChoose: () => editing.selectAll(true),
            },
            { label: strings.templates.open, icon: LayoutTemplate, onChoose: onTemplates },
            {
              label: reviewing.resetAll,
              icon: RotateCcw,
              isDisabled: !editing.isChanged,
              onChoose: editing.resetAll,
            },
          ]}
        />
      </div>
      {handle.others > 0 && <p className="rs-others">{reviewing.othersWait(handle.others)}</p>}
    </header>
  )
}
