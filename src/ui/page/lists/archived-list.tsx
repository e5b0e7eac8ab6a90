import { ArchiveRestore, ArrowLeft } from 'lucide-react'
import type { ReactElement } from 'react'
import type { Client } from 'runsheet/client'
import { errorText, useSessions } from 'runsheet/react'
import { filingStrings } from '../texts/english-filing.ts'
import { More } from '../parts/more.tsx'
import type { PageStrings } from '../texts/page-strings.ts'
import type { Route } from '../parts/route.ts'
import { SessionLink } from './session-link.tsx'
import type { FilingActions } from './use-filing.ts'

interface ArchivedListProps {
  readonly client: Client
  readonly strings: PageStrings
  readonly session: string
  readonly actions: FilingActions
  readonly onGo: (route: Route) => void
  readonly onBack: () => void
}

export function ArchivedList({ client, strings, session, actions, onGo, onBack }: ArchivedListProps): ReactElement {
  const { sessions, hasMore, error, more, reload } = useSessions(client, 'archived')
  const words = filingStrings(strings)
  const restore = async (id: string): Promise<void> => {
    await actions.change(id, { archived: false })
    await reload()
  }
  return (
    <section className="app-sessions app-archived" aria-label={strings.archived}>
      <h2 className="app-found app-archived-head">
        <button
          type="button"
          className="rs-icon"
          aria-label={words.backToList}
          title={words.backToList}
          onClick={onBack}
        >
          <ArrowLeft size={16} aria-hidden="true" />
        </button>
        {strings.archived}
      </h2>
      {!sessions && error !== null && <p role="alert">{errorText(strings.panels, error)}</p>}
      {sessions?.length === 0 && <p className="app-quiet">{words.noneArchived}</p>}
      <ul>
        {sessions?.map(({ session_id: id, title }) => (
          <li key={id}>
            <SessionLink id={id} isCurrent={id === session} onGo={onGo}>
              <span dir="auto">{title ?? strings.untitled}</span>
            </SessionLink>
            <button
              type="button"
              className="rs-icon"
              aria-label={`${strings.restore}: ${title ?? strings.untitled}`}
              title={strings.restore}
              onClick={() => void restore(id)}
            >
              <ArchiveRestore size={16} aria-hidden="true" />
            </button>
          </li>
        ))}
      </ul>
      {hasMore && <More strings={strings} onMore={more} />}
    </section>
  )
}
