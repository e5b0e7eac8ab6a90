import { Button, errorText, type GroupedSessions, groupSessions, localeOf } from 'runsheet/react'
import { ClipboardCheck, Ellipsis, Loader, TriangleAlert } from 'lucide-react'
import { memo, type ReactElement, Suspense, useCallback, useId, useMemo, useRef, useState } from 'react'
import type { SessionMark } from 'runsheet/client'
import { chatRoute, urlOf } from '../route.ts'
import type { FilingHandle } from './filing.ts'
import { part } from '../part.ts'
import { type PageStrings, usePageStrings } from '../texts/strings.ts'
import { More, SessionLink } from '../controls.tsx'

const SessionMenu = part('SessionMenu')
const RenameTitle = part('RenameTitle')

interface SessionListProps {
  readonly session: string
  /** A conversation in which nothing waits, even if the stale list says otherwise. */
  readonly quiet: string | undefined
  readonly filing: FilingHandle
  readonly isHidden: boolean
}

export function SessionList({ session, quiet, filing, isHidden }: SessionListProps): ReactElement {
  const strings = usePageStrings()
  const { list, actions } = filing
  const { sessions, hasMore, error } = list
  const [menu, setMenu] = useState<{ readonly id: string; readonly anchor: HTMLElement }>()
  const [renaming, setRenaming] = useState<string>()
  const scroller = useRef<HTMLDivElement>(null)
  const groups = useMemo(() => groupSessions(sessions ?? []), [sessions])
  const openMenu = useCallback((id: string, anchor: HTMLElement) => setMenu({ id, anchor }), [])
  const renamed = useCallback(
    (id: string, title: string | undefined, isByKey: boolean): void => {
      setRenaming(undefined)
      if (isByKey) requestAnimationFrame(() => linkTo(scroller.current, id)?.focus())
      if (title !== undefined) void actions.change(id, { title })
    },
    [actions],
  )
  const chosen = menu && sessions?.find(({ session_id }) => session_id === menu.id)
  return (
    <div className="app-sessions" ref={scroller} hidden={isHidden}>
      {!sessions && error !== null && (
        <div role="alert">
          <p>{errorText(strings.panels, error)}</p>
          <Button onClick={() => void list.reload()}>{strings.retry}</Button>
        </div>
      )}
      {sessions?.length === 0 && <p className="app-quiet">{strings.noConversations}</p>}
      {groups.map(group => (
        <Group key={group.month?.getTime() ?? group.group} of={group}>
          {group.sessions.map(each => (
            <SessionRow
              key={each.session_id}
              id={each.session_id}
              title={each.title}
              mark={each.session_id === quiet && each.mark === 'waiting' ? null : each.mark}
              isCurrent={each.session_id === session}
              isRenaming={each.session_id === renaming}
              isMenuOpen={each.session_id === menu?.id}
              onMenu={openMenu}
              onRenamed={renamed}
            />
          ))}
        </Group>
      ))}
      {hasMore && <More onMore={list.more} />}
      {chosen && (
        <Suspense>
          <SessionMenu
            session={chosen}
            anchor={menu.anchor}
            actions={actions}
            onRename={() => setRenaming(chosen.session_id)}
            onClose={() => setMenu(undefined)}
          />
        </Suspense>
      )}
    </div>
  )
}

const linkTo = (list: HTMLElement | null, id: string): HTMLElement | null | undefined =>
  list?.querySelector<HTMLElement>(`a[href="${urlOf(chatRoute(id))}"]`)

interface GroupProps {
  readonly of: GroupedSessions
  readonly children: readonly ReactElement[]
}

function Group({ of, children }: GroupProps): ReactElement {
  const strings = usePageStrings()
  const id = useId()
  return (
    <>
      <h2 id={id} className="app-found">
        {of.group === 'older' ? monthText(of.month, strings) : strings.groups[of.group]}
      </h2>
      <ul aria-labelledby={id}>{children}</ul>
    </>
  )
}

/** "September", with the year if it is not the current one. */
function monthText(month: Date | undefined, strings: PageStrings): string {
  const isThisYear = month?.getFullYear() === new Date().getFullYear()
  return month?.toLocaleDateString(localeOf(strings.panels), { month: 'long', ...(isThisYear ? {} : YEAR) }) ?? ''
}

const YEAR = { year: 'numeric' } as const

interface SessionRowProps {
  readonly id: string
  readonly title: string | null
  readonly mark: SessionMark | null
  readonly isCurrent: boolean
  readonly isRenaming: boolean
  readonly isMenuOpen: boolean
  readonly onMenu: (id: string, anchor: HTMLElement) => void
  readonly onRenamed: (id: string, title: string | undefined, isByKey: boolean) => void
}

/** Its props hold only what the row shows, so that polling does not render unchanged rows. */
const SessionRow = memo(function SessionRow(props: SessionRowProps): ReactElement {
  const strings = usePageStrings()

  const { id, mark, isCurrent, isRenaming, isMenuOpen, onMenu, onRenamed } = props
  const title = props.title ?? strings.untitled
  // A click on the button closes an open menu before `onClick` runs.
  const wasOpen = useRef(false)
  if (isRenaming) {
    return (
      <li>
        <Suspense>
          <RenameTitle title={title} onDone={(typed, isByKey) => onRenamed(id, typed, isByKey)} />
        </Suspense>
      </li>
    )
  }
  return (
    <li>
      <SessionLink id={id} isCurrent={isCurrent}>
        <span dir="auto">{title}</span> {mark && <Mark of={mark} />}
      </SessionLink>
      <button
        type="button"
        className="rs-icon"
        aria-label={`${strings.panels.moreActions}: ${title}`}
        title={strings.panels.moreActions}
        aria-haspopup="menu"
        aria-expanded={isMenuOpen}
        onPointerDown={() => {
          wasOpen.current = isMenuOpen
        }}
        onClick={event => {
          if (!wasOpen.current) onMenu(id, event.currentTarget)
          wasOpen.current = false
        }}
      >
        <Ellipsis size={16} aria-hidden="true" />
      </button>
    </li>
  )
})

const MARKS = { waiting: ClipboardCheck, running: Loader, failed: TriangleAlert }

function Mark({ of }: { readonly of: SessionMark }): ReactElement {
  const strings = usePageStrings()
  const Icon = MARKS[of]
  const name = of === 'waiting' ? strings.waitingForYou : strings.turnStatus[of]
  return (
    <span className={`app-mark app-mark-${of}`} role="img" aria-label={name} title={name}>
      <Icon size={15} aria-hidden="true" />
    </span>
  )
}
