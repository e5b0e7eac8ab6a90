import { Archive, ArchiveRestore, FileJson, FileText, PencilLine, Pin, PinOff } from 'lucide-react'
import { type ReactElement, useMemo } from 'react'
import type { Session } from 'runsheet/client'
import { Menu, type MenuItem } from 'runsheet/react'
import type { PageStrings } from '../texts/page-strings.ts'
import type { FilingActions } from './use-filing.ts'
import { filingStrings } from '../texts/english-filing.ts'

interface SessionMenuProps {
  readonly strings: PageStrings
  readonly session: Pick<Session, 'session_id' | 'title' | 'pinned' | 'archived'>
  readonly anchor: HTMLElement
  readonly actions: FilingActions
  readonly onRename: () => void
  readonly onClose: () => void
}

export function SessionMenu({ strings, session, anchor, actions, onRename, onClose }: SessionMenuProps): ReactElement {
  const words = filingStrings(strings)
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
