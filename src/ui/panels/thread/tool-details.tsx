import type { ReactElement } from 'react'
import type { Json } from '../../../core/model/event.ts'
import type { MessageCall } from '../../../core/views/transcript.ts'
import type { RunsheetSource } from '../parts/runsheet-provider.tsx'
import { useThreadStrings } from '../texts/use-thread-strings.ts'
import { useCallResult } from './use-call-result.ts'

interface ToolDetailsProps {
  readonly call: MessageCall
  readonly source: RunsheetSource
}

export function ToolDetails({ call, source }: ToolDetailsProps): ReactElement {
  const { thread } = useThreadStrings()
  const { result, hasFailed } = useCallResult(call.answer, source)
  return (
    <dl className="rs-use-details">
      <dt>{thread.input}</dt>
      <dd>
        <pre className="rs-output rs-code" tabIndex={0}>
          {formatted(call.arguments)}
        </pre>
      </dd>
      <dt>{thread.output}</dt>
      <dd>
        {result === undefined ? (
          <p className="rs-note">
            {call.approval === 'deny'
              ? thread.approval.denied
              : call.unanswered
                ? thread.unanswered[1]
                : thread.noOutputYet}
          </p>
        ) : (
          <pre className="rs-output rs-code" tabIndex={0}>
            {formatted(result)}
          </pre>
        )}
        {hasFailed && <p className="rs-note">{thread.outputFailed}</p>}
      </dd>
    </dl>
  )
}

/** Some tools return JSON as a string. */
function formatted(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2)
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' ? JSON.stringify(parsed, null, 2) : value
  } catch {
    return value
  }
}
