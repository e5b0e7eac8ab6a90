import { Button, errorText, IconButton, LineInput, Menu, type MenuItem, useSessions } from 'runsheet/react'
import { Archive, ArchiveRestore, ArrowLeft, FileJson, FileText, PencilLine, Pin, PinOff, X } from 'lucide-react'
import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react'
import type { Client, Session } from 'runsheet/client'
import { More, SessionLink } from '../controls.tsx'
import type { FilingActions, FilingHandle } from './filing.ts'
import { useClient } from '../auth.ts'
import { usePageStrings } from '../texts/strings.ts'
import { useLaterStrings } from '../texts/english-later.ts'
import './lists.css'

interface ArchivedListProps {
  readonly session: string
  readonly actions: FilingActions
  readonly onBack: () => void
}

export function ArchivedList({ session, actions, onBack }: ArchivedListProps): ReactElement {
  const client = useClient()
  const strings = usePageStrings()
  const { sessions, hasMore, error, more, reload } = useSessions(client, 'archived')
  const words = useLaterStrings().filing
  const restore = async (id: string): Promise<void> => {
    await actions.change(id, { archived: false })
    await reload()
  }
  return (
    <section className="app-sessions app-archived" aria-label={strings.archived}>
      <h2 className="app-found app-archived-head">
        <IconButton label={words.backToList} icon={ArrowLeft} onAct={onBack} />
        {strings.archived}
      </h2>
      {!sessions && error !== null && <p role="alert">{errorText(strings.panels, error)}</p>}
      {sessions?.length === 0 && <p className="app-quiet">{words.noneArchived}</p>}
      <ul>
        {sessions?.map(({ session_id: id, title }) => (
          <li key={id}>
            <SessionLink id={id} isCurrent={id === session}>
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
      {hasMore && <More onMore={more} />}
    </section>
  )
}

interface SessionMenuProps {
  readonly session: Pick<Session, 'session_id' | 'title' | 'pinned' | 'archived'>
  readonly anchor: HTMLElement
  readonly actions: FilingActions
  readonly onRename: () => void
  readonly onClose: () => void
}

export function SessionMenu({ session, anchor, actions, onRename, onClose }: SessionMenuProps): ReactElement {
  const strings = usePageStrings()
  const words = useLaterStrings().filing
  const { session_id: id, pinned, archived } = session
  const title = session.title ?? strings.untitled
  const button = useMemo(() => ({ current: anchor }), [anchor])
  const items: readonly MenuItem[] = [
    { label: words.rename, icon: PencilLine, onChoose: onRename },
    {
      label: pinned ? words.unpin : words.pin,
      icon: pinned ? PinOff : Pin,
      onChoose: () => void actions.change(id, { pinned: !pinned }),
    },
    { label: words.exportMarkdown, icon: FileText, onChoose: () => void actions.exportAs(id, title, 'md') },
    { label: words.exportJson, icon: FileJson, onChoose: () => void actions.exportAs(id, title, 'jsonl') },
    archived
      ? {
          label: strings.restore,
          icon: ArchiveRestore,
          onChoose: () => void actions.change(id, { archived: false }),
        }
      : { label: words.archive, icon: Archive, onChoose: () => void actions.archive(id) },
  ]
  // The row may unmount before the menu's close event.
  const closing = items.map(item => ({
    ...item,
    onChoose: () => {
      onClose()
      item.onChoose()
    },
  }))
  return <Menu label={`${strings.panels.moreActions}: ${title}`} items={closing} anchor={button} onClose={onClose} />
}

/** The server's limit. */
const MAX_CHARACTERS = 120

interface RenameTitleProps {
  readonly title: string
  /** Called with undefined if the title is unchanged. */
  readonly onDone: (title: string | undefined, isByKey: boolean) => void
}

export function RenameTitle({ title, onDone }: RenameTitleProps): ReactElement {
  const [text, setText] = useState(title)
  return (
    <LineInput
      label={useLaterStrings().filing.newTitle}
      className="app-rename"
      maxLength={MAX_CHARACTERS}
      text={text}
      onText={setText}
      onDone={(typed = '', isByKey) => {
        const wanted = typed.trim()
        onDone(wanted === '' || wanted === title ? undefined : wanted, isByKey)
      }}
    />
  )
}

interface FilingNoticesProps {
  readonly filing: FilingHandle
}

const UNDO_MS = 10_000

export function FilingNotices({ filing: { list, actions, failure } }: FilingNoticesProps): ReactElement {
  const strings = usePageStrings()
  const words = useLaterStrings().filing
  const { archived, forget } = list
  return (
    <div className="app-toasts">
      <div role="status">
        {archived && (
          <Toast key={archived.session_id} afterMs={UNDO_MS} onClose={forget}>
            <span className="app-toast-text">{words.archivedNow(archived.title ?? strings.untitled)}</span>
            <Button onClick={() => void actions.undo()}>{words.undo}</Button>
          </Toast>
        )}
      </div>
      {failure && (
        <div role="alert">
          <Toast onClose={actions.forgetFailure}>
            <span className="app-toast-text">
              {failure.title !== undefined && `${words.notRenamed(failure.title)} `}
              {errorText(strings.panels, failure.error)}
            </span>
            <Button onClick={failure.retry}>{strings.retry}</Button>
          </Toast>
        </div>
      )}
    </div>
  )
}

interface ToastProps {
  /** Dismisses itself, unless it has the pointer or the focus. */
  readonly afterMs?: number
  readonly onClose: () => void
  readonly children: React.ReactNode
}

function Toast({ afterMs, onClose, children }: ToastProps): ReactElement {
  const strings = usePageStrings()
  const [isHeld, setHeld] = useState(false)
  const toast = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The row that had the focus is gone.
    if (document.activeElement === document.body) toast.current?.querySelector('button')?.focus()
  }, [])
  useEffect(() => {
    if (isHeld || afterMs === undefined) return
    const timer = setTimeout(onClose, afterMs)
    return () => clearTimeout(timer)
  }, [isHeld, afterMs, onClose])
  return (
    <div
      ref={toast}
      className="app-toast"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      {children}
      <IconButton label={strings.close} icon={X} onAct={onClose} />
    </div>
  )
}

export async function download(client: Client, id: string, title: string, format: 'md' | 'jsonl'): Promise<void> {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await client.exportSession(id, format))
  link.download = `${fileName(title)}.${format}`
  link.click()
  // The browser reads the URL after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

const MAX_FILE_NAME = 60

/** Removes characters that file systems refuse or that change the text direction. */
function fileName(title: string): string {
  const plain = title
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\\/:*?"<>|]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .replace(/^[\s.]+/u, '')
  return (
    [...plain]
      .slice(0, MAX_FILE_NAME)
      .join('')
      .replace(/[\s.]+$/u, '') || 'conversation'
  )
}
