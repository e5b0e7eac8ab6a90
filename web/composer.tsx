import { ArrowUp, Loader, Square } from 'lucide-react'
import { type ReactElement, useEffect, useRef } from 'react'
import { useGrowing } from '../src/react/growing.tsx'
import { isComposing } from '../src/react/is-composing.ts'
import type { AppWords } from './words.ts'

export interface Choice {
  readonly label: string
  readonly value: string
  readonly values: readonly string[]
  readonly onChoose: (value: string) => void
}

interface ComposerProps {
  readonly words: AppWords
  readonly text: string
  readonly onText: (text: string) => void
  readonly isNew: boolean
  readonly isRunning: boolean
  /** The last one is still on its way. */
  readonly isSending: boolean
  readonly isStopping: boolean
  /** What the next message goes with. */
  readonly choices: readonly Choice[]
  readonly onSend: (message: string) => void
  readonly onStop: () => void
}

/** The input. Enter sends, Shift and Enter begins a line. */
export function Composer(props: ComposerProps): ReactElement {
  const { words, text, onText, isNew, isRunning, isSending, isStopping, choices, onSend, onStop } = props
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    // With a keyboard on the screen it would hide what there is to try.
    if (isNew && matchMedia('(pointer: fine)').matches) box.current?.focus()
    // Only when the conversation is opened.
  }, [])
  useGrowing(box)
  const send = (): void => {
    const message = text.trim()
    if (message !== '' && !isRunning && !isSending) onSend(message)
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
      <textarea
        ref={box}
        id="message"
        className="app-input"
        aria-label={words.message}
        placeholder={words.message}
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
        {choices.map(({ label, value, values, onChoose }) => (
          <label key={label} className="app-choice" title={label}>
            <span className="rs-sr">{label}</span>
            <select value={value} disabled={isRunning || isSending} onChange={event => onChoose(event.target.value)}>
              {values.map(each => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        ))}
        <span className="app-gap" />
        {isRunning ? (
          <button
            type="button"
            className="app-send"
            aria-label={words.stop}
            title={words.stop}
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
        ) : (
          <button
            type="submit"
            className="app-send"
            aria-label={words.send}
            title={words.send}
            disabled={text.trim() === '' || isSending}
          >
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
