import { Button, errorText, IconButton, useRunsheet, useTools } from 'runsheet/react'
import { Sparkles, TriangleAlert, Wrench, X } from 'lucide-react'
import { lazy, type ReactElement, type ReactNode, Suspense, useEffect, useState } from 'react'
import { type MessageCall, RunsheetError, type ThreadTurn, type ToolsAnswer } from 'runsheet/client'
import { useCommands } from '../commands.ts'
import { loadPart } from '../load-part.ts'
import { closeDialog, openSettings, openTools } from '../route.ts'
import { type LaterStrings, useLaterStrings } from '../texts/english-later.ts'
import { usePageStrings } from '../texts/strings.ts'
import { toolCount } from './models.ts'
import '../settings/settings.css'
import './chat.css'

const ToolsDialog = lazy(() => loadPart(() => import('../settings/tools.tsx')))

interface ToolsLineProps {
  /** The demo model uses no tools; its banner says so. */
  readonly isDemo: boolean
  readonly isOpen: boolean
}

export function ToolsLine({ isDemo, isOpen }: ToolsLineProps): ReactElement | null {
  const { client, view } = useRunsheet()
  const tools = useTools(client)
  const words = useLaterStrings().tools
  const { running_turn } = view.state.conversation
  const { answer, reload } = tools
  const isConnecting = answer?.servers.some(({ state }) => state === 'connecting') ?? false
  // Reload on each turn, which connects servers, and on focus, after changes in a terminal.
  useEffect(() => void reload(), [running_turn, reload])
  useEffect(() => {
    const look = (): void => void reload()
    window.addEventListener('focus', look)
    const timer = isConnecting ? setInterval(look, CONNECTING_MS) : undefined
    return () => {
      window.removeEventListener('focus', look)
      clearInterval(timer)
    }
  }, [reload, isConnecting])
  useCommands({ tools: answer ? openTools : undefined })
  if (!answer) return null
  const { text, isNone, isBad } = lineOf(answer, words)
  const Icon = isBad ? TriangleAlert : Wrench
  return (
    <>
      {!(isDemo && isNone) && (
        <button type="button" className="app-tools-line" title={words.manage} onClick={openTools}>
          <Icon size={14} aria-hidden="true" />
          <span>{text}</span>
          {isNone && <b>{words.giveFolder}</b>}
        </button>
      )}
      {isOpen && (
        <Suspense>
          <ToolsDialog
            strings={words}
            onClose={() => {
              closeDialog()
              void reload()
            }}
          />
        </Suspense>
      )}
    </>
  )
}

const CONNECTING_MS = 2_000

function lineOf(answer: ToolsAnswer, words: LaterStrings['tools']) {
  const { servers } = answer
  if (servers.length === 0) return { text: words.none, isNone: true, isBad: false }
  const failed = servers.filter(({ state }) => state === 'failed').length
  const isConnecting = servers.some(({ state }) => state === 'connecting')
  const parts = [
    toolCount(answer, words).text,
    ...(failed > 0 ? [words.failed(failed)] : []),
    ...(isConnecting ? [words.connecting] : []),
  ]
  return { text: parts.join(' · '), isNone: false, isBad: failed > 0 }
}

const KEY = 'runsheet.demo-hidden'

interface DemoBannerProps {
  readonly hasSandbox: boolean
}

export function DemoBanner({ hasSandbox }: DemoBannerProps): ReactElement | null {
  const words = useLaterStrings().conversation
  const [isHidden, setHidden] = useState(() => sessionStorage.getItem(KEY) !== null)
  if (isHidden) return null
  const text = hasSandbox ? words.demo : words.demoWithoutSandbox
  return (
    <aside className="app-banner" aria-label={text}>
      <Sparkles size={16} aria-hidden="true" />
      <span>{text}</span>
      <Button isSmall onClick={openSettings}>
        {words.connectModel}
      </Button>
      <IconButton
        label={words.dismiss}
        icon={X}
        onAct={() => {
          sessionStorage.setItem(KEY, '1')
          setHidden(true)
        }}
      />
    </aside>
  )
}

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
          <Button isSmall onClick={settings.open}>
            {settings.label}
          </Button>
        )}
        {retry && (
          <Button isSmall onClick={retry.open}>
            {retry.label}
          </Button>
        )}
      </div>
    </div>
  )
}
