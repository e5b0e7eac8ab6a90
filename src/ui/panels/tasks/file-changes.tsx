import { type ReactElement, useState } from 'react'
import type { FileChange } from '../../../core/proof/file-change.ts'
import { useStrings } from '../texts/strings.ts'

interface FileChangesProps {
  readonly checks: readonly { readonly changes: readonly FileChange[] }[]
  readonly onAccept: (paths: readonly string[]) => Promise<unknown>
}

/** Changes that wait for a person: protected files are accepted one by one, the others together. */
export function FileChanges({ checks, onAccept }: FileChangesProps): ReactElement | null {
  const { checks: strings } = useStrings()
  const [isBusy, setBusy] = useState(false)
  const changes = [...new Map(checks.flatMap(each => each.changes).map(change => [change.path, change])).values()]
  if (changes.length === 0) return null
  const accept = async (paths: readonly string[]): Promise<void> => {
    setBusy(true)
    await onAccept(paths)
    setBusy(false)
  }
  const button = (text: string, label: string | undefined, paths: readonly string[]): ReactElement => (
    <button
      type="button"
      className="rs-button rs-small"
      aria-label={label}
      aria-disabled={isBusy}
      onClick={() => void (isBusy || accept(paths))}
    >
      {text}
    </button>
  )
  const isTogether = ({ is }: FileChange): boolean => is === 'outside' || is === 'git'
  const together = changes.filter(isTogether).map(({ path }) => path)
  return (
    <div className="rs-file-changes">
      <p>{changes.every(({ is }) => is === 'own') ? strings.ownTestsChanged : strings.changedOutside}</p>
      <ul>
        {changes.map(change => (
          <li key={change.path}>
            <span className="rs-code">{change.is === 'git' ? strings.fromGit(change.files ?? 1) : change.path}</span>
            {!isTogether(change) && button(strings.acceptOne, `${strings.acceptOne} ${change.path}`, [change.path])}
          </li>
        ))}
      </ul>
      {together.length > 0 &&
        button(together.length < changes.length ? strings.acceptRest : strings.acceptChanges, undefined, together)}
    </div>
  )
}
