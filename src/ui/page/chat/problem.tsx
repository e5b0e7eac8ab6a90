import type { ReactElement, ReactNode } from 'react'
import { type MessageCall, RunsheetError, type ThreadTurn } from 'runsheet/client'
import { errorText } from 'runsheet/react'
import { TriangleAlert } from 'lucide-react'
import { openSettings } from '../route.ts'
import { type LaterStrings, useLaterStrings } from '../texts/english-later.ts'
import { usePageStrings } from '../texts/strings.ts'
import './chat.css'

interface ProblemProps {
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
}

export function Problem({ error, onRetry }: ProblemProps): ReactElement {
  const strings = usePageStrings()
  const words = useLaterStrings().conversation
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
      settings={kind === 'model' ? { label: words.openSettings, open: openSettings } : undefined}
      retry={onRetry && { label: strings.retry, open: onRetry }}
    />
  )
}

const KINDS: Readonly<Record<string, keyof LaterStrings['conversation']['problems']>> = {
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

const kindOf = (error: unknown): keyof LaterStrings['conversation']['problems'] =>
  (error instanceof RunsheetError ? KINDS[error.code] : undefined) ?? 'other'

interface ToolServersDownProps {
  readonly turn: ThreadTurn
}

export function ToolServersDown({ turn }: ToolServersDownProps): ReactElement {
  const words = useLaterStrings().conversation
  return (
    <>
      {[...downIn(turn)].map(([server, problem]) => (
        <ErrorCard
          key={server}
          title={words.toolServerDown(server)}
          text={problem}
          hint={words.toolServerHint}
          settings={{ label: words.openSettings, open: openSettings }}
        />
      ))}
    </>
  )
}

/** Messages of the MCP client, of fetch, and of our own timeout. */
const DOWN = /connection closed|not connected|fetch failed|ECONN|socket hang up|no answer within|EPIPE|terminated/i

/** Maps each server to its last problem; a successful later call clears it. */
function downIn({ items }: ThreadTurn): ReadonlyMap<string, string> {
  const down = new Map<string, string>()
  const look = ({ tool, answer }: MessageCall): void => {
    const [, server] = /^(.+?)__/.exec(tool) ?? []
    if (server === undefined || !answer) return
    const said = typeof answer.result === 'string' ? answer.result : ''
    if (!answer.ok && DOWN.test(said)) down.set(server, said)
    else if (answer.ok) down.delete(server)
  }
  for (const item of items) {
    if (item.kind === 'message') item.calls.forEach(look)
    if (item.kind === 'step') for (const each of item.step.items) if (each.kind === 'call') look(each.call)
  }
  return down
}

interface Action {
  readonly label: string
  readonly open: () => void
}

interface ErrorCardProps {
  readonly title: string
  readonly text: string
  readonly hint?: ReactNode
  readonly role?: 'note' | 'alert'
  readonly settings?: Action | undefined
  readonly retry?: Action | undefined
}

function ErrorCard({ title, text, hint, role = 'note', settings, retry }: ErrorCardProps): ReactElement {
  return (
    <div className="app-problem" role={role}>
      <TriangleAlert size={16} aria-hidden="true" />
      <div>
        <strong>{title}</strong>
        {text !== title && <p>{text}</p>}
        {hint && <p>{hint}</p>}
      </div>
      <div className="app-problem-actions">
        {settings && (
          <button type="button" className="rs-button rs-small" onClick={settings.open}>
            {settings.label}
          </button>
        )}
        {retry && (
          <button type="button" className="rs-button rs-small" onClick={retry.open}>
            {retry.label}
          </button>
        )}
      </div>
    </div>
  )
}
