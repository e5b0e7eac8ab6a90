import type { HostName } from './hosts.ts'
import { type Feature, type Installation, type Place, switches } from './host.ts'

export type Handler = Readonly<Record<string, unknown>>

export interface HookGroup {
  readonly matcher?: string
  readonly hooks: readonly Handler[]
}

/**
 * Features that need an event; it is written if any of them is on. `session`: always written, because it tells which
 * session a call belongs to.
 */
export type EventUses = Readonly<Record<string, readonly Feature[] | 'session'>>

export const eventsFor = (uses: EventUses, { features }: Installation): readonly string[] =>
  Object.entries(uses)
    .filter(([, needed]) => needed === 'session' || needed.some(each => features.includes(each)))
    .map(([event]) => event)

/** Calls the hidden tool of the MCP server that the host already runs. */
export const toolHook = (input: Readonly<Record<string, string>>, timeout: number): Handler => ({
  type: 'mcp_tool',
  server: 'runsheet',
  tool: 'hook',
  input,
  timeout,
})

function hookWords(
  host: HostName,
  event: string,
  { program, data, features }: Installation,
): readonly [string, ...string[]] {
  const folder = data === undefined ? [] : ['--data', data]
  return [...program, 'hook', event, '--host', host, ...folder, ...switches(features)]
}

/**
 * The command line of a hook. It never fails, even if the program is missing: Gemini CLI treats exit code 127 as a
 * block.
 */
function hookCommand(host: HostName, event: string, installation: Installation, place: Place): string {
  const words = hookWords(host, event, installation)
  // One form for sh, PowerShell and cmd, because colleagues may use other systems. cmd passes the last words on as
  // arguments, which are ignored.
  if (place.scope === 'project') return `${words.map(inQuotes("'\\''")).join(' ')} ; exit 0`
  if (place.platform === 'win32') return `& ${words.map(inQuotes("''")).join(' ')} ; exit 0`
  // Not with `exec`: it would fail if the program's interpreter is missing. A host that kills the shell waits for
  // nothing else.
  return `printf %s "$(${words.map(inQuotes("'\\''")).join(' ')} 2>/dev/null)"`
}

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

export const statusCommand = ({ program, data }: Installation, platform: NodeJS.Platform): string =>
  [...program, 'status', '--line', ...(data === undefined ? [] : ['--data', data])]
    .map(word => quoted(word, platform))
    .join(' ')

/** True if any version of setup wrote the handler. */
export function isOurs(handler: unknown): boolean {
  const { type, server, tool, command } = (handler ?? {}) as Handler
  if (type === 'mcp_tool') return server === 'runsheet' && tool === 'hook'
  return typeof command === 'string' && /\bhook \w+ --host [a-z-]+/.test(command) && /runsheet|main\.ts/.test(command)
}

const PLAIN = /^[\w@%+=:,./-]+$/

/** Quotes words that a shell would change; `quote` escapes a quote between quotes. */
const inQuotes =
  (quote: string) =>
  (word: string): string =>
    PLAIN.test(word) ? word : `'${word.replaceAll("'", () => quote)}'`

const quoted = (word: string, platform: NodeJS.Platform): string =>
  platform === 'win32' && !PLAIN.test(word) ? `"${word}"` : inQuotes("'\\''")(word)
