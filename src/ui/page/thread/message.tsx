import { AutosizeTextarea, Button, IconButton, isComposing, localeOf } from 'runsheet/react'
import { Check, Copy, Pencil, RotateCcw } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { Message } from 'runsheet/client'
import { beginningOf, Rest } from './long-text.tsx'
import type { Scene } from './thread-turn.tsx'
import { usePageStrings } from '../texts/strings.ts'
import { useLaterStrings } from '../texts/english-later.ts'
import '../chat/chat.css'

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
        <IconButton
          ref={editButton}
          className="app-resend"
          label={words.edit}
          icon={Pencil}
          size={14}
          onAct={() => setEdited(message.text)}
        />
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
      {onAgain && <IconButton label={words.askAgain} icon={RotateCcw} size={14} onAct={onAgain} />}
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

interface LineEditorProps {
  readonly label: string
  readonly text: string
  readonly save: string
  readonly cancel: string
  readonly note?: string
  readonly onText: (text: string) => void
  readonly onSave: (text: string) => void
  readonly onCancel: () => void
}

export function LineEditor({
  label,
  text,
  save,
  cancel,
  note,
  onText,
  onSave,
  onCancel,
}: LineEditorProps): ReactElement {
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const element = box.current
    element?.focus()
    element?.setSelectionRange(element.value.length, element.value.length)
  }, [])
  const bare = text.trim()
  const submit = (): void => {
    if (bare !== '') onSave(bare)
  }
  return (
    <form
      className="app-editor"
      onSubmit={event => {
        event.preventDefault()
        submit()
      }}
    >
      <AutosizeTextarea
        ref={box}
        className="rs-input"
        aria-label={label}
        rows={1}
        value={text}
        onChange={event => onText(event.target.value)}
        onKeyDown={event => {
          if (isComposing(event)) return
          if (event.key === 'Escape') {
            event.stopPropagation()
            onCancel()
          }
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          submit()
        }}
      />
      <div className="app-editor-foot">
        <span className="app-quiet">{note}</span>
        <Button isSmall onClick={onCancel}>
          {cancel}
        </Button>
        <Button type="submit" kind="primary" isSmall disabled={bare === ''}>
          {save}
        </Button>
      </div>
    </form>
  )
}

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
}

export function CopyButton({ text, label: own }: CopyButtonProps): ReactElement | null {
  const strings = usePageStrings()
  const label = own ?? strings.copy
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => {},
    )
  }
  if (!('clipboard' in navigator)) return null
  return (
    <>
      <button type="button" className="rs-icon app-copy" aria-label={label} title={label} onClick={copy}>
        {isCopied ? <Check size={14} aria-hidden="true" /> : <Copy size={14} aria-hidden="true" />}
      </button>
      <span className="rs-sr" role="status">
        {isCopied ? strings.copied : ''}
      </span>
    </>
  )
}
