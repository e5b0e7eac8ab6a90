import { errorText, IconButton, useRunsheet, useSteering } from 'runsheet/react'
import { Clock3, Pencil, Undo2 } from 'lucide-react'
import { type ReactElement, useRef } from 'react'
import type { QueuedMessage } from 'runsheet/client'
import { LineEditor } from '../thread/message.tsx'
import { useStored } from '../storage.ts'
import { type LaterStrings, useLaterStrings } from '../texts/english-later.ts'
import { usePageStrings } from '../texts/strings.ts'
import './chat.css'

interface SteeringProps {
  readonly outgoing: string | undefined
  readonly isReview: boolean
  readonly isTyping: boolean
  readonly onText: (text: string) => void
  readonly onSend: (text: string) => void
  /** The focused button is gone; moves the focus. */
  readonly onDone: () => void
}

export function Steering(props: SteeringProps): ReactElement | null {
  const strings = usePageStrings()
  const { outgoing, isReview, isTyping, onText, onSend, onDone } = props
  const words = useLaterStrings().conversation.queue
  const { session, view } = useRunsheet()
  const { conversation } = view.state
  const { queued, isHeld, isSending, isBusy, error, edit, takeBack, sendNow } = useSteering()
  // Keeps the version that the person saw.
  const [editing, setEditing] = useStored<QueuedMessage | undefined>(`runsheet.queue-edit.${session}`, undefined)
  const list = useRef<HTMLOListElement>(null)
  const close = ({ message_id }: QueuedMessage): void => {
    setEditing(undefined)
    // The buttons are mounted again after this render.
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-edits="${message_id}"]`)?.focus())
  }
  const waiting = queued.length + (outgoing === undefined ? 0 : 1)
  // The message was read, or taken back in another window, during the edit.
  const isGone = editing !== undefined && !queued.some(({ message_id }) => message_id === editing.message_id)
  const latest = conversation.turns[conversation.latest_turn ?? '']
  const isElsewhere = conversation.running_turn === null && latest?.status === 'open'
  if (waiting === 0 && !isGone) {
    return isElsewhere && isTyping && !isReview ? (
      <p className="app-queue app-queue-note" role="status">
        {words.elsewhere(latest.client ?? words.otherAgent)}
      </p>
    ) : null
  }
  const head = isSending
    ? words.sendingNow
    : isHeld
      ? words.held(waiting)
      : isReview
        ? words.waitsForReview(waiting)
        : words.waits(waiting)
  const [first] = queued
  return (
    <section className="app-queue" aria-label={words.title}>
      {waiting > 0 && (
        <p className="app-queue-head">
          <Clock3 size={14} aria-hidden="true" />
          <span role="status">{head}</span>
          {first && !isSending && (
            <button
              type="button"
              className={`rs-button rs-small${isHeld ? ' rs-primary' : ''}`}
              title={isHeld ? undefined : words.sendNowHint}
              disabled={isBusy}
              onClick={() => {
                void sendNow(first.message_id)
                onDone()
              }}
            >
              {isHeld ? strings.send : words.sendNow}
            </button>
          )}
        </p>
      )}
      <ol ref={list}>
        {queued.map(message => (
          <li key={message.message_id}>
            {editing?.message_id === message.message_id ? (
              <LineEditor
                label={words.editQueued}
                text={editing.text}
                save={words.save}
                cancel={words.cancel}
                onText={text => setEditing({ ...editing, text })}
                onCancel={() => close(message)}
                onSave={async text => {
                  // Sends the version from the start of the edit, so that a concurrent change is not overwritten.
                  if (await edit({ ...message, version: editing.version }, text)) close(message)
                  else setEditing({ ...editing, text, version: message.version })
                }}
              />
            ) : (
              <Queued
                message={message}
                words={words}
                isFixed={isSending}
                onEdit={() => setEditing(message)}
                onTakeBack={async () => {
                  const text = await takeBack(message)
                  if (text !== undefined) onText(text)
                }}
              />
            )}
          </li>
        ))}
        {outgoing !== undefined && (
          <li className="app-queue-sending">
            <p dir="auto">{outgoing}</p>
            <span>{words.sending}</span>
          </li>
        )}
      </ol>
      {isGone && (
        <div className="app-queue-late" role="alert">
          <p>{words.readMeanwhile}</p>
          <LineEditor
            label={words.editQueued}
            text={editing.text}
            save={words.sendAsNew}
            cancel={words.discard}
            onText={text => setEditing({ ...editing, text })}
            onCancel={() => {
              setEditing(undefined)
              onDone()
            }}
            onSave={text => {
              setEditing(undefined)
              onSend(text)
              onDone()
            }}
          />
        </div>
      )}
      {error !== undefined && !isBusy && !isGone && (
        <p className="app-queue-error" role="alert">
          {errorText(strings.panels, error)}
        </p>
      )}
    </section>
  )
}

interface QueuedProps {
  readonly message: QueuedMessage
  readonly words: LaterStrings['conversation']['queue']
  readonly isFixed: boolean
  readonly onEdit: () => void
  readonly onTakeBack: () => Promise<void>
}

function Queued({ message, words, isFixed, onEdit, onTakeBack }: QueuedProps): ReactElement {
  return (
    <>
      <p dir="auto">{message.text}</p>
      {!isFixed && (
        <>
          <IconButton label={words.edit} icon={Pencil} size={14} onAct={onEdit} />
          <IconButton label={words.takeBack} icon={Undo2} size={14} onAct={() => void onTakeBack()} />
        </>
      )}
    </>
  )
}
