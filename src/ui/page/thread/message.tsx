import { Pencil, RotateCcw } from 'lucide-react'
import { type ReactElement, useRef, useState } from 'react'
import type { Message } from 'runsheet/client'
import { localeOf } from 'runsheet/react'
import { CopyButton, LineEditor } from './line-editor.tsx'
import { beginningOf, Rest } from './said.tsx'
import type { Scene } from './thread-turn.tsx'
import { usePageStrings } from '../texts/strings.ts'
import { useLaterStrings } from '../texts/english-later.ts'

export function Asked({ message, scene }: { readonly message: Message; readonly scene: Scene }): ReactElement {
  const strings = usePageStrings()
  const { state, onResend } = scene
  const words = useLaterStrings().conversation
  const [edited, setEdited] = useState<string>()
  const editButton = useRef<HTMLButtonElement>(null)
  const close = (): void => {
    setEdited(undefined)
    // The button is mounted again after this render.
    requestAnimationFrame(() => editButton.current?.focus())
  }
  const { beginning, rest } = beginningOf(message.text)
  if (edited !== undefined) {
    return (
      <article className="app-message app-message-edited" aria-label={strings.you}>
        <LineEditor
          label={words.editMessage}
          text={edited}
          save={strings.send}
          cancel={words.queue.cancel}
          note={state().conversation.running_turn === null ? words.editStarts : words.editQueues}
          onText={setEdited}
          onCancel={close}
          onSave={text => {
            setEdited(undefined)
            onResend(text)
          }}
        />
      </article>
    )
  }
  return (
    // Focusable, so that a tap reveals its actions.
    <article
      className="app-message app-message-user"
      aria-label={strings.you}
      data-message={message.message_id}
      tabIndex={-1}
    >
      <p className="app-plain" dir="auto">
        {beginning}
      </p>
      <Rest text={rest} />
      <MessageFoot message={message}>
        <button
          ref={editButton}
          type="button"
          className="rs-icon app-resend"
          aria-label={words.edit}
          title={words.edit}
          onClick={() => setEdited(message.text)}
        >
          <Pencil size={14} aria-hidden="true" />
        </button>
      </MessageFoot>
    </article>
  )
}

interface MessageFootProps {
  readonly message: Message
  readonly onAgain?: (() => void) | undefined
  readonly children?: ReactElement
}

/** The style sheet shows it on hover and focus. */
export function MessageFoot({ message, onAgain, children }: MessageFootProps): ReactElement {
  const words = useLaterStrings().conversation
  return (
    <footer className="app-message-foot">
      <CopyButton text={message.text} />
      {children}
      {onAgain && (
        <button type="button" className="rs-icon" aria-label={words.askAgain} title={words.askAgain} onClick={onAgain}>
          <RotateCcw size={14} aria-hidden="true" />
        </button>
      )}
      <When at={message.created_at} />
    </footer>
  )
}

function When({ at }: { readonly at: string }): ReactElement {
  const strings = usePageStrings()
  const locale = localeOf(strings.panels)
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  const time = { hour: '2-digit', minute: '2-digit' } as const
  return (
    <time dateTime={at} title={date.toLocaleString(locale, { dateStyle: 'full', timeStyle: 'medium' })}>
      {date.toLocaleString(locale, isToday ? time : { day: 'numeric', month: 'short', ...time })}
    </time>
  )
}
