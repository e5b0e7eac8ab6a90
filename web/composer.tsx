import { ArrowUp, Square } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { AppWords } from './words.ts'

export interface Choice {
  readonly label: string
  readonly value: string
  readonly values: readonly string[]
  readonly onChoose: (value: string) => void
}

interface ComposerProps {
  readonly words: AppWords
  readonly session: string
  readonly isNew: boolean
  readonly isRunning: boolean
  /** What the next message goes with. */
  readonly choices: readonly Choice[]
  /** Whether it was taken; what was not stays in the box. */
  readonly onSend: (message: string) => Promise<boolean>
  readonly onStop: () => void
}

/** The input. Enter sends, Shift and Enter begins a line; what is typed survives a reload. */
export function Composer({ words, session, isNew, isRunning, choices, onSend, onStop }: ComposerProps): ReactElement {
  const key = `runsheet.typed.${session}`
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? '')
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (text === '') sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  }, [key, text])
  useEffect(() => {
    // With a keyboard on the screen it would hide what there is to try.
    if (isNew && matchMedia('(pointer: fine)').matches) box.current?.focus()
    // Only when the conversation is opened.
  }, [])
  const send = async (): Promise<void> => {
    const message = text.trim()
    if (message === '' || isRunning) return
    setText('')
    // Whoever typed on in the meantime keeps that.
    if (!(await onSend(message))) setText(typed => (typed === '' ? message : typed))
  }
  return (
    <form
      className="app-composer"
      onSubmit={event => {
        event.preventDefault()
        box.current?.focus()
        void send()
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
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          void send()
        }}
      />
      <div className="app-composer-foot">
        {choices.map(({ label, value, values, onChoose }) => (
          <label key={label} className="app-choice" title={label}>
            <span className="rs-sr">{label}</span>
            <select value={value} disabled={isRunning} onChange={event => onChoose(event.target.value)}>
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
            onClick={() => {
              box.current?.focus()
              onStop()
            }}
          >
            <Square size={14} fill="currentColor" aria-hidden="true" />
          </button>
        ) : (
          <button
            type="submit"
            className="app-send"
            aria-label={words.send}
            title={words.send}
            disabled={text.trim() === ''}
          >
            <ArrowUp size={18} aria-hidden="true" />
          </button>
        )}
      </div>
    </form>
  )
}
