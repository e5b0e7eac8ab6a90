import type { ReactElement } from 'react'
import { RunsheetError } from 'runsheet/client'
import { errorText } from 'runsheet/react'
import { conversationStrings, type ProblemKind } from '../texts/english-conversation.ts'
import { ErrorCard } from './error-card.tsx'
import type { PageStrings } from '../texts/page-strings.ts'

interface ProblemProps {
  readonly strings: PageStrings
  readonly error: unknown
  readonly onSettings: () => void
  readonly onRetry?: (() => void) | undefined
}

export default function Problem({ strings, error, onSettings, onRetry }: ProblemProps): ReactElement {
  const words = conversationStrings(strings)
  const kind = kindOf(error)
  const [title, hint] = words.problems[kind]
  const text = errorText(strings.panels, error)
  const tried = kind === 'unreachable' ? words.triedAt(location.origin) : ''
  return (
    <ErrorCard
      role="alert"
      title={kind === 'other' ? text : title}
      text={kind === 'unreachable' ? tried : text}
      hint={hint}
      settings={kind === 'model' ? { label: words.openSettings, open: onSettings } : undefined}
      retry={onRetry && { label: strings.retry, open: onRetry }}
    />
  )
}

const KINDS: Readonly<Record<string, ProblemKind>> = {
  unreachable: 'unreachable',
  io: 'storage',
  full: 'storage',
  readonly: 'storage',
  corrupt: 'storage',
  newer: 'storage',
  replaced: 'storage',
  unknown_outcome: 'storage',
  file_invalid: 'storage',
  busy: 'busy',
  closed: 'busy',
  rate_limited: 'busy',
  too_many_streams: 'busy',
  not_implemented: 'model',
  model_unknown: 'model',
}

const kindOf = (error: unknown): ProblemKind =>
  (error instanceof RunsheetError ? KINDS[error.code] : undefined) ?? 'other'
