import { type Feature, type HostName, type Installation, type Place, switches } from './host.ts'

/** What a host runs at an event. */
export type Handler = Readonly<Record<string, unknown>>

/** The form that hosts share: handlers, for the tools or sources that match. */
export interface HookGroup {
  readonly matcher?: string
  readonly hooks: readonly Handler[]
}

/** Which features need an event: it is written if one of them is on. `session`: always, it tells which session calls belong to. */
export type EventUses = Readonly<Record<string, readonly Feature[] | 'session'>>

/** The events to write. */
export const eventsFor = (uses: EventUses, { features }: Installation): readonly string[] =>
  Object.entries(uses)
    .filter(([, needed]) => needed === 'session' || needed.some(each => features.includes(each)))
    .map(([event]) => event)

/** Calls the hidden tool of the server that is already running. */
export const toolHook = (input: Readonly<Record<string, string>>, timeout: number): Handler => ({
  type: 'mcp_tool',
  server: 'runsheet',
  tool: 'hook',
  input,
  timeout,
})

/** What handles an event. */
export function hookWords(
  host: HostName,
  event: string,
  { program, data, features }: Installation,
): readonly [string, ...string[]] {
  const folder = data === undefined ? [] : ['--data', data]
  return [...program, 'hook', event, '--host', host, ...folder, ...switches(features)]
}

/** A command line that handles an event. It never fails, even if the program is gone: Gemini CLI takes 127 for a block. */
export function hookCommand(host: HostName, event: string, installation: Installation, place: Place): string {
  const words = hookWords(host, event, installation)
  // One form for sh, PowerShell and cmd, which passes the last words on: colleagues have other systems.
  if (place.scope === 'project') return `${words.map(inQuotes("'\\''")).join(' ')} ; exit 0`
  if (place.platform === 'win32') return `& ${words.map(inQuotes("''")).join(' ')} ; exit 0`
  // Not through `exec`: a program without its interpreter fails, too. A host that ends the shell waits for no one else.
  return `printf %s "$(${words.map(inQuotes("'\\''")).join(' ')} 2>/dev/null)"`
}

/** A command line that prints where the plan stands. */
export const statusCommand = ({ program, data }: Installation, platform: NodeJS.Platform): string =>
  [...program, 'status', '--line', ...(data === undefined ? [] : ['--data', data])]
    .map(word => quoted(word, platform))
    .join(' ')

/** Whether setup, of this or another version, wrote the handler. */
export function isOurs(handler: unknown): boolean {
  const { type, server, tool, command } = (handler ?? {}) as Handler
  if (type === 'mcp_tool') return server === 'runsheet' && tool === 'hook'
  return typeof command === 'string' && /\bhook \w+ --host [a-z-]+/.test(command) && /runsheet|main\.ts/.test(command)
}

const PLAIN = /^[\w@%+=:,./-]+$/

/** Quotes words that a shell would change; `quote` is how a quote is written between quotes. */
const inQuotes =
  (quote: string) =>
  (word: string): string =>
    PLAIN.test(word) ? word : `'${word.replaceAll("'", () => quote)}'`

const quoted = (word: string, platform: NodeJS.Platform): string =>
  platform === 'win32' && !PLAIN.test(word) ? `"${word}"` : inQuotes("'\\''")(word)
