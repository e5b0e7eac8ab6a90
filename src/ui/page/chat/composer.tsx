import { ArrowUp, Loader, Square } from 'lucide-react'
import { type ReactElement, type ReactNode, type RefObject, useEffect } from 'react'
import { AutosizeTextarea, isComposing } from 'runsheet/react'
import { usePageStrings } from '../texts/strings.ts'

interface Choice {
  readonly name: string
  readonly value: string
  readonly values: readonly string[]
  readonly onChoose: (value: string) => void
}

interface ComposerProps {
  readonly box: RefObject<HTMLTextAreaElement | null>
  readonly text: string
  readonly onText: (text: string) => void
  readonly isNew: boolean
  readonly isRunning: boolean
  /** A review waits: the text requests changes or explains a rejection. `before`: the text is older than the review. */
  readonly about: 'review' | 'rejection' | 'before' | undefined
  readonly isSending: boolean
  readonly isStopping: boolean
  readonly choices: readonly Choice[]
  readonly onSend: (message: string) => void
  readonly onStop: () => void
  readonly children?: ReactNode
}

export function Composer(props: ComposerProps): ReactElement {
  const strings = usePageStrings()
  const { box, text, onText, isNew, isRunning, about, isSending, isStopping, choices, onSend, onStop } = props
  const isReview = about !== undefined
  const message = text.trim()
  const isSteering = isRunning && !isReview
  const [label, hint] = {
    message: [strings.message, isSteering && message !== '' ? strings.enterQueues : ''],
    review: [strings.requestChanges, strings.enterRequestsChanges],
    rejection: [strings.sayWhy, strings.enterRejects],
    before: [strings.message, strings.writtenBefore],
  }[about ?? 'message']
  useEffect(() => {
    // On touch screens the keyboard would cover the examples.
    if (isNew && matchMedia('(pointer: fine)').matches) box.current?.focus()
    // Only when the conversation opens.
  }, [])
  // A decision needs no text.
  const canSend = (message !== '' || isReview) && !isSending
  const send = (): void => {
    if (canSend) onSend(message)
  }
  return (
    <form
      className="app-composer"
      onSubmit={event => {
        event.preventDefault()
        box.current?.focus()
        send()
      }}
    >
      <AutosizeTextarea
        ref={box}
        id="message"
        className="app-input"
        aria-label={label}
        placeholder={isSteering ? strings.steer : label}
        rows={2}
        value={text}
        onChange={event => onText(event.target.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return
          event.preventDefault()
          send()
        }}
      />
      <div className="app-composer-foot">
        {/* The choices apply to messages, not to decisions. */}
        {!isReview && props.children}
        {(isReview ? [] : choices).map(({ name, value, values, onChoose }) => (
          <label key={name} className="app-choice" title={name}>
            <span className="rs-sr">{name}</span>
            <select value={value} disabled={isRunning || isSending} onChange={event => onChoose(event.target.value)}>
              {values.map(each => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        ))}
        <span className="app-gap">{hint}</span>
        {isRunning && (
          <button
            type="button"
            className={`app-send${isReview || message !== '' ? ' app-send-second' : ''}`}
            aria-label={strings.stop}
            title={strings.stop}
            aria-disabled={isStopping}
            onClick={() => {
              box.current?.focus()
              if (!isStopping) onStop()
            }}
          >
            {isStopping ? (
              <Loader className="app-spin" size={18} aria-hidden="true" />
            ) : (
              <Square size={14} fill="currentColor" aria-hidden="true" />
            )}
          </button>
        )}
        {(!isSteering || message !== '') && (
          <button type="submit" className="app-send" aria-label={strings.send} title={strings.send} disabled={!canSend}>
            {isSending ? (
              <Loader className="app-spin" size={18} aria-hidden="true" />
            ) : (
              <ArrowUp size={18} aria-hidden="true" />
            )}
          </button>
        )}
      </div>
    </form>
  )
}
