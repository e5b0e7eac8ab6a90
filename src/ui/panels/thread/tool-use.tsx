import { CircleAlert, LoaderCircle, Wrench } from 'lucide-react'
import { memo, type ReactElement, useState } from 'react'
import type { MessageCall } from '../../../core/views/transcript.ts'
import { durationText } from './duration-text.ts'
import type { RunsheetSource } from '../parts/runsheet-provider.tsx'
import { useThreadStrings } from '../texts/use-thread-strings.ts'
import { ToolDetails } from './tool-details.tsx'
import { subjectOf, toolWords } from './tool-words.ts'

/** The props of `ToolUse`. */
export interface ToolUseProps extends RunsheetSource {
  readonly call: MessageCall
  /** True if an answer can still arrive. */
  readonly isRunning?: boolean
}

/** A tool call in words with its duration; expanded, it shows input and output. */
export const ToolUse = memo(function ToolUse({ call, isRunning = false, ...source }: ToolUseProps): ReactElement {
  const strings = useThreadStrings()
  const [isOpen, setOpen] = useState(false)
  const { thread } = strings
  const { answer, approval, unanswered } = call
  // A call denied because its turn stopped has no answer.
  const note =
    approval === 'waiting'
      ? thread.approval.waits
      : approval === 'deny'
        ? thread.approval.denied
        : unanswered && thread.unanswered[0]
  const isTurning = isRunning && !answer && !note
  const Icon = isTurning ? LoaderCircle : unanswered || (answer && !answer.ok) ? CircleAlert : Wrench
  return (
    <details className="rs-use" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary className={answer && !answer.ok ? 'rs-use-failed' : undefined}>
        <Icon size={14} aria-hidden="true" className={isTurning ? 'rs-turning' : undefined} />
        <ToolText tool={call.tool} subject={subjectOf(call.arguments)} isRunning={isTurning || note !== undefined} />
        {(note ?? answer) && (
          <span className="rs-use-time">
            {note}
            {!note &&
              answer &&
              `${answer.ok ? '' : `${thread.useFailed} · `}${durationText(answer.duration_ms, strings)}`}
          </span>
        )}
      </summary>
      {isOpen && <ToolDetails call={call} source={source} />}
    </details>
  )
})

interface ToolTextProps {
  readonly tool: string
  readonly subject: string
  readonly isRunning?: boolean
}

export function ToolText({ tool, subject, isRunning = false }: ToolTextProps): ReactElement {
  const words = toolWords(tool, subject, isRunning, useThreadStrings())
  return (
    <span className="rs-use-text" title={tool}>
      {words.verb} {words.subject !== '' && <bdi className="rs-use-subject">{words.subject}</bdi>}
    </span>
  )
}
