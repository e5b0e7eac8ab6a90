import { type Feature, type HostName, type Installation, switches } from './host.ts'

/** What a host runs at an event. */
export type Handler = Readonly<Record<string, unknown>>

/** The form that hosts share: handlers, for the tools or sources that match. */
export interface HookGroup {
  readonly matcher?: string
  readonly hooks: readonly Handler[]
}

/** Which features need an event. It is written if one of them is on. */
export type EventUses = Readonly<Record<string, readonly Feature[]>>

/** The events to write. */
export const eventsFor = (uses: EventUses, { features }: Installation): readonly string[] =>
  Object.entries(uses).flatMap(([event, needed]) => (needed.some(each => features.includes(each)) ? [event] : []))

/** Calls the hidden tool of the server that is already running. */
export const toolHook = (input: Readonly<Record<string, string>>, timeout: number): Handler => ({
  type: 'mcp_tool',
  server: 'runsheet',
  tool: 'hook',
  input,
  timeout,
})

/** A command line that handles an event. */
export function hookCommand(
  host: HostName,
  event: string,
  { program, data, features }: Installation,
  platform: NodeJS.Platform,
): string {
  const folder = data === undefined ? [] : ['--data', data]
  const words = [...program, 'hook', event, '--host', host, ...folder, ...switches(features)]
  return words.map(word => quoted(word, platform)).join(' ')
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

const quoted = (word: string, platform: NodeJS.Platform): string => {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`
}
