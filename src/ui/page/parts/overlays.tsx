import { lazy, type ReactElement, Suspense, useEffect, useState } from 'react'
import type { Client, Session } from 'runsheet/client'
import { useCommands } from '../chat/commands.ts'
import { loadPart } from './load-part.ts'
import type { PageStrings } from '../texts/page-strings.ts'
import type { Route } from './route.ts'
import { isHelpKey, isPaletteKey } from './shortcuts.ts'

const Palette = lazy(() => loadPart(() => import('./palette.tsx')))
const KeyboardHelp = lazy(() => loadPart(() => import('./keyboard-help.tsx')))

interface OverlaysProps {
  readonly client: Client
  readonly strings: PageStrings
  readonly sessions: readonly Session[]
  readonly onGo: (route: Route) => void
}

export function Overlays({ client, strings, sessions, onGo }: OverlaysProps): ReactElement {
  const [shown, setShown] = useState<'palette' | 'help'>()
  useCommands({ keyboard_help: () => setShown('help') })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const asked = isPaletteKey(event) ? 'palette' : isHelpKey(event) ? 'help' : undefined
      if (!asked || event.isComposing || event.defaultPrevented) return
      event.preventDefault()
      // An open dialog keeps its own keys.
      if (!document.querySelector('dialog:modal')) setShown(asked)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  const close = (): void => setShown(undefined)
  return (
    <Suspense>
      {shown === 'palette' && (
        <Palette client={client} strings={strings} sessions={sessions} onGo={onGo} onClose={close} />
      )}
      {shown === 'help' && <KeyboardHelp strings={strings} onClose={close} />}
    </Suspense>
  )
}
