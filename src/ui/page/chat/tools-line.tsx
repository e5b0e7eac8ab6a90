import { TriangleAlert, Wrench } from 'lucide-react'
import { lazy, type ReactElement, Suspense, useEffect } from 'react'
import type { ToolsAnswer } from 'runsheet/client'
import { useRunsheet, useTools } from 'runsheet/react'
import '../settings/tools.css'
import { useCommands } from './commands.ts'
import { loadPart } from '../parts/load-part.ts'
import { closeTools, openTools } from '../settings/open-settings.ts'
import type { PageStrings } from '../texts/page-strings.ts'
import { englishTools, type ToolsStrings } from '../texts/english-tools.ts'
import { toolCount } from '../settings/tool-count.ts'

const ToolsDialog = lazy(() => loadPart(() => import('../settings/tools.tsx')))

interface ToolsLineProps {
  readonly strings: PageStrings
  /** The demo model uses no tools; its banner says so. */
  readonly isDemo: boolean
  readonly isOpen: boolean
}

export default function ToolsLine({ strings, isDemo, isOpen }: ToolsLineProps): ReactElement | null {
  const { client, view } = useRunsheet()
  const tools = useTools(client)
  const words = strings.tools ?? englishTools
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
              closeTools()
              void reload()
            }}
          />
        </Suspense>
      )}
    </>
  )
}

const CONNECTING_MS = 2_000

function lineOf(answer: ToolsAnswer, words: ToolsStrings) {
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
