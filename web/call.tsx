import { Check, CircleAlert, Loader, Wrench } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { Client, MessageCall } from '../src/client/index.ts'
import { useResult } from './answers.ts'
import type { AppWords } from './words.ts'

/** What took less is not told. */
const WORTH_SAYING_MS = 100

interface CallProps {
  readonly client: Client
  readonly session: string
  readonly call: MessageCall
  readonly isRunning: boolean
  readonly words: AppWords
}

/** A tool that was called: folded, with what it was asked and what it answered inside. */
export function Call({ client, session, call, isRunning, words }: CallProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const { answer } = call
  const { result, hasFailed } = useResult(client, session, answer, isOpen)
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
            {result === undefined ? (
              <p className="app-quiet">{words.toolWaits}</p>
            ) : (
              <pre tabIndex={0}>{shown(result)}</pre>
            )}
            {hasFailed && <p className="app-quiet">{words.notRead}</p>}
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
