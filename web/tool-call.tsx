import { Ban, Check, CircleAlert, Loader, Pencil, Wrench } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { Client, MessageCall, Resolution } from 'runsheet/client'
import type { PageStrings } from './page-strings.ts'
import { useToolResult } from './use-tool-result.ts'

/** Shorter durations are not shown. */
const MIN_SHOWN_MS = 100

interface ToolCallProps {
  readonly client: Client
  readonly session: string
  readonly call: MessageCall
  /** How the review ended that the call asked for. */
  readonly resolution: Resolution | undefined
  readonly isRunning: boolean
  readonly strings: PageStrings
}

/** A tool call; its input and output show when it is opened. */
export function ToolCall({ client, session, call, resolution, isRunning, strings }: ToolCallProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const { answer } = call
  const { result, hasFailed } = useToolResult(client, session, answer, isOpen)
  return (
    <details className="app-call" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        {resolution?.action === 'cancel' ? (
          <Unconfirmed resolution={resolution} strings={strings} />
        ) : (
          <>
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
          </>
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
            {result === undefined ? (
              <p className="app-quiet">{strings.noOutputYet}</p>
            ) : (
              <pre tabIndex={0}>{formatted(result)}</pre>
            )}
            {hasFailed && <p className="app-quiet">{strings.outputFailed}</p>}
          </dd>
        </dl>
      )}
    </details>
  )
}

/** A plan that was not confirmed: the person's decision, not a failure of the tool. */
function Unconfirmed({ resolution, strings }: { readonly resolution: Resolution; readonly strings: PageStrings }) {
  const { reason = '', comment } = resolution
  const Icon = reason === 'changes_requested' ? Pencil : Ban
  const texts: Readonly<Record<string, string>> = strings.planEnded
  return (
    <>
      <Icon size={14} aria-hidden="true" />
      <span className="app-decision">
        {texts[reason] ?? strings.planEnded.user_cancelled} {comment !== undefined && strings.quoted(comment)}
      </span>
    </>
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
