import { ChevronRight, CornerDownLeft } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import type { ThreadItem } from '../../../core/views/thread.ts'
import type { Message } from '../../../core/views/transcript.ts'
import { useThreadStrings } from '../texts/use-thread-strings.ts'

/** The props of `FollowUps`. */
export interface FollowUpsProps {
  readonly of: Extract<ThreadItem, { readonly kind: 'follow_ups' }>
  /** Renders an agent message; by default as plain text. */
  readonly renderText?: (message: Message) => ReactNode
}

/** The number of gate follow-ups in one line; expanded, it shows the agent's answers to them. */
export function FollowUps({ of: { count, messages }, renderText = plainText }: FollowUpsProps): ReactElement {
  const { thread } = useThreadStrings()
  const said = messages.filter(({ text }) => text !== '')
  const line = (
    <>
      <CornerDownLeft size={14} aria-hidden="true" />
      <span>{thread.followedUp(count)}</span>
    </>
  )
  if (said.length === 0) return <p className="rs-line">{line}</p>
  return (
    <details className="rs-use rs-follow-ups">
      <summary>
        {line}
        <ChevronRight className="rs-chevron" size={14} aria-hidden="true" />
      </summary>
      {said.map(renderText)}
    </details>
  )
}

const plainText = ({ message_id, text }: Message): ReactNode => (
  <p key={message_id} className="rs-step-text" dir="auto">
    {text}
  </p>
)
