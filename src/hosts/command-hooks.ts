import type { HostName } from './hosts.ts'
import { eventsFor, type EventUses, type Handler, type HookGroup, hookCommand } from './hooks.ts'
import type { Installation, Place } from './host.ts'

interface CommandHooks {
  readonly host: HostName
  readonly uses: EventUses
  /** In the host's unit. */
  readonly timeout: number
  /** Extra handler fields on Windows, so that PowerShell runs it. */
  readonly onWindows?: Handler
}

/** Hooks that run `runsheet hook`, for Gemini CLI and its forks. */
export function commandHooks(
  { host, uses, timeout, onWindows }: CommandHooks,
  place: Place,
  installation: Installation,
): Readonly<Record<string, HookGroup>> {
  const more = place.scope === 'user' && place.platform === 'win32' ? onWindows : {}
  const group = (event: string): HookGroup => {
    const command = hookCommand(host, event, installation, place)
    return { hooks: [{ type: 'command', name: 'runsheet', command, timeout, ...more }] }
  }
  return Object.fromEntries(eventsFor(uses, installation).map(event => [event, group(event)]))
}
