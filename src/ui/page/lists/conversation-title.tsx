import { Button, useRunsheet } from 'runsheet/react'
import { ChevronDown } from 'lucide-react'
import { type ReactElement, Suspense, useRef, useState } from 'react'
import { useCommands } from '../commands.ts'
import type { FilingActions } from './filing.ts'
import { part } from '../part.ts'
import { usePageStrings } from '../texts/strings.ts'

const SessionMenu = part('SessionMenu')
const RenameTitle = part('RenameTitle')

interface ConversationTitleProps {
  readonly actions: FilingActions
}

export function ConversationTitle({ actions }: ConversationTitleProps): ReactElement {
  const strings = usePageStrings()
  const { session: id, view } = useRunsheet()
  const { title, conversation } = view.state
  const { pinned, archived } = conversation
  const [isOpen, setOpen] = useState(false)
  const [isRenaming, setRenaming] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  // A click on the button closes an open menu before `onClick` runs.
  const wasOpen = useRef(false)
  const name = title ?? strings.untitled
  // The server does not know a conversation before its first message.
  const isKnown = conversation.seq > 0
  const rename = (): void => setRenaming(true)
  const restore = (): void => void actions.change(id, { archived: false })
  const pin = (): void => void actions.change(id, { pinned: !pinned })
  useCommands(
    isKnown
      ? {
          rename,
          [pinned ? 'unpin' : 'pin']: pin,
          [archived ? 'restore' : 'archive']: archived ? restore : () => void actions.archive(id),
          export_markdown: () => void actions.exportAs(id, name, 'md'),
          export_json: () => void actions.exportAs(id, name, 'jsonl'),
        }
      : {},
  )
  if (isRenaming) {
    return (
      <div className="app-title">
        <Suspense>
          <RenameTitle
            title={name}
            onDone={(typed, isByKey) => {
              setRenaming(false)
              if (isByKey) requestAnimationFrame(() => button.current?.focus())
              if (typed !== undefined) void actions.change(id, { title: typed })
            }}
          />
        </Suspense>
      </div>
    )
  }
  return (
    <>
      <h1 className="app-title">
        {isKnown ? (
          <button
            ref={button}
            type="button"
            aria-haspopup="menu"
            aria-expanded={isOpen}
            onPointerDown={() => {
              wasOpen.current = isOpen
            }}
            onClick={() => {
              setOpen(!wasOpen.current)
              wasOpen.current = false
            }}
          >
            <span dir="auto">{name}</span>
            <ChevronDown size={15} aria-hidden="true" />
          </button>
        ) : (
          <span className="rs-sr">{name}</span>
        )}
      </h1>
      {archived && (
        <Button className="app-restore" onClick={restore}>
          {strings.archived} · {strings.restore}
        </Button>
      )}
      {isOpen && button.current && (
        <Suspense>
          <SessionMenu
            session={{ session_id: id, title, pinned, archived }}
            anchor={button.current}
            actions={actions}
            onRename={rename}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  )
}
