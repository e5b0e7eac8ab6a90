import { eventsFor, type EventUses, type HookGroup, hookCommand } from '../hooks.ts'
import type { HostName, Installation, Place } from '../host.ts'

export interface CommandHooks {
  readonly host: HostName
  readonly uses: EventUses
  /** In the host's unit. */
  readonly timeout: number
}

/** Hooks that run `runsheet hook`, for the forks of Gemini CLI. */
export function commandHooks(
  { host, uses, timeout }: CommandHooks,
  { platform }: Place,
  installation: Installation,
): Readonly<Record<string, HookGroup>> {
  const group = (event: string): HookGroup => ({
    hooks: [{ type: 'command', name: 'runsheet', command: hookCommand(host, event, installation, platform), timeout }],
  })
  return Object.fromEntries(eventsFor(uses, installation).map(event => [event, group(event)]))
}
