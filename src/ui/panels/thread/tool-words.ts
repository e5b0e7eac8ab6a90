import type { Json } from '../../../core/model/event.ts'
import type { ThreadStrings } from '../texts/strings.ts'
import type { AllStrings } from '../texts/use-thread-strings.ts'

type ToolVerb = keyof ThreadStrings['use']

export interface ToolWords {
  readonly verb: string
  /** The subject of the call; empty if unknown. */
  readonly subject: string
}

/** Such as "Read" and "2026-Q3.csv". */
export function toolWords(tool: string, subject: string, isRunning: boolean, { thread }: AllStrings): ToolWords {
  // Tools of MCP servers are named server__tool.
  const words = wordsIn(tool.split('__').at(-1) ?? '')
  const verb = subject === '' ? undefined : words.map(word => VERBS.get(word)).find(Boolean)
  if (verb) return { verb: thread.use[verb][isRunning ? 1 : 0], subject: isPlace(verb) ? lastPart(subject) : subject }
  const name = words.join(' ') || tool
  return { verb: (isRunning ? thread.using : thread.used)(name), subject }
}

/** The argument that usually names the subject, else the first text among the arguments. */
export function subjectOf(args: Json): string {
  if (typeof args === 'string') return oneLine(args)
  if (typeof args !== 'object' || args === null) return ''
  const entries = Object.entries(args)
  const named = NAMING.flatMap(key => entries.filter(([name]) => name.toLowerCase() === key))
  const texts = [...named, ...entries].flatMap(([, value]) => (typeof value === 'string' ? oneLine(value) : []))
  return texts.find(text => text !== '') ?? ''
}

const MAX_SUBJECT = 120

/** Arguments that name the subject of a call, best first. */
const NAMING = ['command', 'cmd', 'query', 'pattern', 'path', 'file_path', 'file', 'filename', 'url', 'expression']

const NAMES: Record<ToolVerb, string> = {
  read: 'read cat open view load',
  write: 'write create save',
  edit: 'edit patch replace update apply',
  list: 'list ls tree',
  search: 'search grep find glob query',
  run: 'run bash shell exec execute command terminal',
  fetch: 'fetch browse download http',
  delete: 'delete remove rm',
  move: 'move rename mv',
  compute: 'compute calculate calc evaluate',
}
const VERBS: ReadonlyMap<string, ToolVerb> = new Map(
  Object.entries(NAMES).flatMap(([verb, names]) => names.split(' ').map(name => [name, verb as ToolVerb] as const)),
)

const isPlace = (verb: ToolVerb): boolean => ['read', 'write', 'edit', 'list', 'delete', 'move'].includes(verb)

/** Splits `readTextFile` and `read_text_file` into "read", "text", "file". */
const wordsIn = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')

const lastPart = (path: string): string => path.split(/[\\/]/).findLast(part => part !== '') ?? path

function oneLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > MAX_SUBJECT ? `${line.slice(0, MAX_SUBJECT).toWellFormed()}…` : line
}
