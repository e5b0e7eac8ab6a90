import { ArrowUp, Square } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { AppWords } from './words.ts'

interface ComposerProps {
  readonly words: AppWords
  readonly session: string
  readonly isRunning: boolean
  /** Whether it was taken; what was not stays in the box. */
  readonly onSend: (message: string) => Promise<boolean>
  readonly onStop: () => void
}

/** The input. Enter sends, Shift and Enter begins a line; what is typed survives a reload. */
export function Composer({ words, session, isRunning, onSend, onStop }: ComposerProps): ReactElement {
  const key = `runsheet.typed.${session}`
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? '')
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => sessionStorage.setItem(key, text), [key, text])
  const send = async (): Promise<void> => {
    const message = text.trim()
    if (message === '' || isRunning) return
    setText('')
    if (!(await onSend(message))) setText(message)
  }
  return (
    <form
      className="app-composer"
      onSubmit={event => {
        event.preventDefault()
        void send()
      }}
    >
      <textarea
        ref={box}
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
      {isRunning ? (
        <button type="button" className="app-send" aria-label={words.stop} title={words.stop} onClick={onStop}>
          <Square size={16} aria-hidden="true" />
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
    </form>
  )
}
