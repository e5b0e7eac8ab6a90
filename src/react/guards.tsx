import { type ReactElement, useState } from 'react'
import { useStrings } from './strings.ts'

interface GuardsProps {
  readonly paths: readonly string[]
  readonly onAccept: () => Promise<unknown>
}

export function Guards({ paths, onAccept }: GuardsProps): ReactElement | null {
  const { checks: strings } = useStrings()
  const [isBusy, setBusy] = useState(false)
  if (paths.length === 0) return null
  const accept = async (): Promise<void> => {
    setBusy(true)
    await onAccept()
    setBusy(false)
  }
  return (
    <div className="rs-guards">
      <p>{strings.guarded}</p>
      <ul>
        {paths.map(path => (
          <li key={path} className="rs-code">
            {path}
          </li>
        ))}
      </ul>
      <button type="button" className="rs-button rs-small" aria-disabled={isBusy} onClick={() => void accept()}>
        {strings.acceptGuards}
      </button>
    </div>
  )
}
