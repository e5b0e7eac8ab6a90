import { Plus } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { LineInput } from './controls.tsx'
import { useStrings } from '../texts/strings.ts'
import { useFocusOn } from './hooks.ts'

interface AddCheckProps {
  /** Names the row for screen readers; appended to the label. */
  readonly about: string
  readonly commands?: readonly string[]
  /** Reports the typed text, which blur adds. */
  readonly onType?: (line: string) => void
  /** Resolves to whether it was added; if not, the line is restored. */
  readonly onAdd: (line: string, isHidden: boolean) => Promise<boolean> | void
}

export function AddCheck({ about, commands = [], onType, onAdd }: AddCheckProps): ReactElement {
  const { checks } = useStrings()
  const [line, setLine] = useState<string>()
  const [isHidden, setHidden] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const focusOn = useFocusOn(place)
  useEffect(() => {
    if (line === undefined) return
    onType?.(line)
    return () => onType?.('')
  }, [line])
  const done = async (typed: string | undefined, isByKey: boolean): Promise<void> => {
    setLine(undefined)
    if (isByKey) focusOn('button')
    if (typed === undefined || typed.trim() === '') return
    if ((await onAdd(typed, isHidden)) === false) setLine(typed)
  }
  const button = (label: string, hides: boolean): ReactElement => (
    <button
      type="button"
      className="rs-button rs-small"
      aria-label={label + about}
      onClick={() => {
        setHidden(hides)
        setLine('')
      }}
    >
      <Plus size={14} aria-hidden="true" /> {label}
    </button>
  )
  return (
    <div className="rs-add-check" ref={place}>
      {line === undefined ? (
        <>
          {button(checks.add, false)}
          {button(checks.addHidden, true)}
        </>
      ) : (
        <LineInput
          className="rs-code"
          label={(isHidden ? checks.addHidden : checks.add) + about}
          placeholder={checks.addInput(commands[0] ?? 'npm test')}
          options={commands}
          text={line}
          onText={setLine}
          onDone={done}
        />
      )}
    </div>
  )
}
