import { Check, CircleAlert, Loader, Wrench } from 'lucide-react'
import { type ReactElement, useEffect, useState } from 'react'
import type { Answers } from './answers.ts'
import type { AppWords } from './words.ts'

/** What took less is not told. */
const WORTH_SAYING_MS = 100

/** A call as a step stores it. */
export interface StoredCall {
  readonly tool_call_id: string
  readonly tool: string
  readonly arguments: unknown
}

interface CallProps {
  readonly call: StoredCall
  readonly turn: string | null
  readonly answers: Answers
  readonly isRunning: boolean
  readonly words: AppWords
}

/** A tool that was called: folded, with what it was asked and what it answered inside. */
export function Call({ call, turn, answers, isRunning, words }: CallProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const answer = answers.of(turn, call.tool_call_id)
  const { read, hasFailed } = answers
  useEffect(() => {
    if (isOpen && !answer) read()
  }, [isOpen, answer, read])
  return (
    <details className="app-call" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <Wrench size={14} aria-hidden="true" />
        <span>{words.toolCall(call.tool)}</span>
        {answer && (
          <span className={answer.ok ? 'app-call-ok' : 'app-call-refused'}>
            {answer.ok ? <Check size={14} aria-hidden="true" /> : <CircleAlert size={14} aria-hidden="true" />}
            {answer.ok ? answer.duration_ms >= WORTH_SAYING_MS && words.took(answer.duration_ms) : words.toolFailed}
          </span>
        )}
        {!answer && isRunning && <Loader className="app-spin" size={14} aria-hidden="true" />}
      </summary>
      {isOpen && (
        <dl>
          <dt>{words.toolArguments}</dt>
          <dd>
            <pre tabIndex={0}>{shown(call.arguments)}</pre>
          </dd>
          <dt>{words.toolAnswer}</dt>
          <dd>
            {answer ? (
              <pre tabIndex={0}>{shown(answer.result)}</pre>
            ) : (
              <p className="app-quiet">{hasFailed ? words.notRead : words.toolWaits}</p>
            )}
          </dd>
        </dl>
      )}
    </details>
  )
}

/** Most tools answer JSON, some of them as a string. */
function shown(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? ''
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' ? JSON.stringify(parsed, null, 2) : value
  } catch {
    return value
  }
}
