import { CircleAlert, LoaderCircle, Wrench } from 'lucide-react'
import { memo, type ReactElement, useEffect, useState } from 'react'
import type { CallAnswer, MessageCall } from '../../../core/views/transcript.ts'
import { durationText } from '../parts/text.ts'
import { type RunsheetSource, useRunsheet } from '../parts/provider.tsx'
import { type AllStrings, useThreadStrings } from '../texts/use-thread-strings.ts'
import type { Json } from '../../../core/model/event.ts'
import type { ThreadStrings } from '../texts/strings.ts'

/** The props of `ToolUse`. */
export interface ToolUseProps extends RunsheetSource {
  readonly call: MessageCall
  /** True if an answer can still arrive. */
  readonly isRunning?: boolean
}

/** A tool call in words with its duration; expanded, it shows input and output. */
export const ToolUse = memo(function ToolUse({ call, isRunning = false, ...source }: ToolUseProps): ReactElement {
  const strings = useThreadStrings()
  const [isOpen, setOpen] = useState(false)
  const { thread } = strings
  const { answer, approval, unanswered } = call
  // A call denied because its turn stopped has no answer.
  const note =
    approval === 'waiting'
      ? thread.approval.waits
      : approval === 'deny'
        ? thread.approval.denied
        : unanswered && thread.unanswered[0]
  const isTurning = isRunning && !answer && !note
  const Icon = isTurning ? LoaderCircle : unanswered || (answer && !answer.ok) ? CircleAlert : Wrench
  return (
    <details className="rs-use" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary className={answer && !answer.ok ? 'rs-use-failed' : undefined}>
        <Icon size={14} aria-hidden="true" className={isTurning ? 'rs-turning' : undefined} />
        <ToolText tool={call.tool} subject={subjectOf(call.arguments)} isRunning={isTurning || note !== undefined} />
        {(note ?? answer) && (
          <span className="rs-use-time">
            {note}
            {!note &&
              answer &&
              `${answer.ok ? '' : `${thread.useFailed} · `}${durationText(answer.duration_ms, strings)}`}
          </span>
        )}
      </summary>
      {isOpen && <ToolDetails call={call} source={source} />}
    </details>
  )
})

interface ToolTextProps {
  readonly tool: string
  readonly subject: string
  readonly isRunning?: boolean
}

export function ToolText({ tool, subject, isRunning = false }: ToolTextProps): ReactElement {
  const words = toolWords(tool, subject, isRunning, useThreadStrings())
  return (
    <span className="rs-use-text" title={tool}>
      {words.verb} {words.subject !== '' && <bdi className="rs-use-subject">{words.subject}</bdi>}
    </span>
  )
}

interface ToolDetailsProps {
  readonly call: MessageCall
  readonly source: RunsheetSource
}

function ToolDetails({ call, source }: ToolDetailsProps): ReactElement {
  const { thread } = useThreadStrings()
  const { result, hasFailed } = useCallResult(call.answer, source)
  return (
    <dl className="rs-use-details">
      <dt>{thread.input}</dt>
      <dd>
        <pre className="rs-output rs-code" tabIndex={0}>
          {formatted(call.arguments)}
        </pre>
      </dd>
      <dt>{thread.output}</dt>
      <dd>
        {result === undefined ? (
          <p className="rs-note">
            {call.approval === 'deny'
              ? thread.approval.denied
              : call.unanswered
                ? thread.unanswered[1]
                : thread.noOutputYet}
          </p>
        ) : (
          <pre className="rs-output rs-code" tabIndex={0}>
            {formatted(result)}
          </pre>
        )}
        {hasFailed && <p className="rs-note">{thread.outputFailed}</p>}
      </dd>
    </dl>
  )
}

/** Some tools return JSON as a string. */
function formatted(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2)
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' ? JSON.stringify(parsed, null, 2) : value
  } catch {
    return value
  }
}

interface CallResult {
  /** The whole result, or the part that is loaded. */
  readonly result: Json | undefined
  readonly hasFailed: boolean
}

/** Loads the rest of a truncated result from the log. */
function useCallResult(answer: CallAnswer | undefined, source?: RunsheetSource): CallResult {
  const { client, session } = useRunsheet(source)
  const [whole, setWhole] = useState<Json>()
  const [hasFailed, setFailed] = useState(false)
  const missing = answer?.is_cut ? answer.seq : undefined
  useEffect(() => {
    if (missing === undefined) return
    const end = new AbortController()
    setFailed(false)
    client.event(session, missing, end.signal).then(
      event => event.type === 'tool_answered' && setWhole(event.data.result),
      () => !end.signal.aborted && setFailed(true),
    )
    return () => end.abort()
  }, [client, session, missing])
  return { result: whole ?? answer?.result, hasFailed }
}

type ToolVerb = keyof ThreadStrings['use']

interface ToolWords {
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
