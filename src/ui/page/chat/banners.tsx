import { Sparkles, TriangleAlert, Wrench, X } from 'lucide-react'
import { lazy, type ReactElement, Suspense, useEffect, useState } from 'react'
import type { ToolsAnswer } from 'runsheet/client'
import { useRunsheet, useTools } from 'runsheet/react'
import { useCommands } from '../commands.ts'
import { loadPart } from '../part.ts'
import { closeDialog, openSettings, openTools } from '../route.ts'
import { type LaterStrings, useLaterStrings } from '../texts/english-later.ts'
import '../settings/tools.css'
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

export function toolCount({ offered, servers }: ToolsAnswer, strings: LaterStrings['tools']) {
  const left = servers.flatMap(({ tools }) => tools).filter(({ left_out }) => left_out).length
  return { isAll: left === 0, text: left === 0 ? strings.count(offered) : strings.countOf(offered, offered + left) }
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
      <button type="button" className="rs-button rs-small" onClick={openSettings}>
        {words.connectModel}
      </button>
      <button
        type="button"
        className="rs-icon"
        aria-label={words.dismiss}
        title={words.dismiss}
        onClick={() => {
          sessionStorage.setItem(KEY, '1')
          setHidden(true)
        }}
      >
        <X size={16} aria-hidden="true" />
      </button>
    </aside>
  )
}
