import { Redo2, Undo2 } from 'lucide-react'
import type { ReactElement } from 'react'
import { IconButton } from '../parts/icon-button.tsx'
import { useStrings } from '../texts/strings.ts'

interface UndoButtonsProps {
  readonly canUndo: boolean
  readonly canRedo: boolean
  readonly onUndo: () => void
  readonly onRedo: () => void
}

/** For touch screens, where there is no Ctrl+Z. */
export function UndoButtons({ canUndo, canRedo, onUndo, onRedo }: UndoButtonsProps): ReactElement {
  const { reviewing } = useStrings()
  return (
    <>
      <IconButton label={reviewing.undo} about="" icon={Undo2} isDisabled={!canUndo} onAct={onUndo} />
      <IconButton label={reviewing.redo} about="" icon={Redo2} isDisabled={!canRedo} onAct={onRedo} />
    </>
  )
}
