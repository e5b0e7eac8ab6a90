import { Check, CircleAlert, Loader, Wrench } from 'lucide-react'
import { type ReactElement, useEffect, useState } from 'react'
import type { Answers } from './answers.ts'
import type { PageStrings } from './page-strings.ts'

/** Shorter durations are not shown. */
const MIN_SHOWN_MS = 100

/** A tool call as stored with its message. */
export interface StoredCall {
  readonly tool_call_id: string
  readonly tool: string
  readonly arguments: unknown
}

interface ToolCallProps {
  readonly call: StoredCall
  readonly turn: string | null
  readonly answers: Answers
  readonly isRunning: boolean
  readonly strings: PageStrings
}

/** A tool call; its input and output show when it is opened. */
export function ToolCall({ call, turn, answers, isRunning, strings }: ToolCallProps): ReactElement {
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
        <span>{strings.toolCall(call.tool)}</span>
        {answer && (
          <span className={answer.ok ? 'app-call-ok' : 'app-call-refused'}>
            {answer.ok ? <Check size={14} aria-hidden="true" /> : <CircleAlert size={14} aria-hidden="true" />}
            {answer.ok
              ? answer.duration_ms >= MIN_SHOWN_MS && strings.duration(answer.duration_ms)
              : strings.toolFailed}
          </span>
        )}
        {!answer && isRunning && <Loader className="app-spin" size={14} aria-hidden="true" />}
      </summary>
      {isOpen && (
        <dl>
          <dt>{strings.toolInput}</dt>
          <dd>
            <pre tabIndex={0}>{formatted(call.arguments)}</pre>
          </dd>
          <dt>{strings.toolOutput}</dt>
          <dd>
            {answer ? (
              <pre tabIndex={0}>{formatted(answer.result)}</pre>
            ) : (
              <p className="app-quiet">{hasFailed ? strings.outputFailed : strings.noOutputYet}</p>
            )}
          </dd>
        </dl>
      )}
    </details>
  )
}

/** Formats JSON, which some tools return as a string. */
function formatted(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? ''
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' ? JSON.stringify(parsed, null, 2) : value
  } catch {
    return value
  }
}
