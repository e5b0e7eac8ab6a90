import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { redactor } from '../domain/redact.ts'
import { openDoor } from '../door/door.ts'
import { answerFor } from '../hooks/answer.ts'
import { HOOK_HOSTS, type HookFeatures, type HookHost } from '../hooks/event.ts'
import { handleHook, type HookNote, type HookNotes } from '../hooks/handle.ts'
import { eventOf, type Payload } from '../hooks/payload.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { DEFAULT_DATA, expandHome } from './default-paths.ts'
import { fileNotes } from './host-notes.ts'

// An entry of its own, without the command line library: a host waits for it at each of its events.

/** How long a host may be kept waiting. */
const MAX_MS = 2_000
/** Longer payloads are left alone. */
const MAX_BYTES = 8 * 1024 * 1024

interface Asked {
  readonly name: string
  readonly host: HookHost
  readonly data: string
  readonly features: HookFeatures
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Answers a host's event and ends the process; `words` are those after `hook`. Whatever happens, it says nothing rather than
 * break the host: nothing is created, nothing is printed but an answer, and the exit code is 0.
 */
export async function runHook(words: readonly string[], environment: Environment): Promise<never> {
  setTimeout(() => process.exit(0), MAX_MS)
  try {
    const asked = parse(words, environment)
    const answer = asked && (await answered(asked, process.stdin))
    if (answer !== undefined) await new Promise(done => process.stdout.write(`${answer}\n`, done))
  } catch {
    // Silence.
  }
  process.exit(0)
}

async function answered(
  { name, host, data, features }: Asked,
  input: AsyncIterable<Buffer>,
): Promise<string | undefined> {
  const payload = await readPayload(input)
  const event = payload && eventOf(host, name, payload)
  const path = join(data, 'runsheet.db')
  if (!event) return undefined
  // A hook never creates the database: without one there are no plans. OpenCode starts us only after the first prompt.
  if (!existsSync(path)) return host === 'opencode' && event.kind === 'prompt' ? AT_START : undefined
  const isShared = existsSync(`${path}-wal`)
  const store = await openSqliteStore({ path })
  const door = openDoor({ store, readOnly: true })
  try {
    const ref = { tenant: LOCAL_TENANT, conversation: event.session }
    const given = host === 'opencode' ? givenNotes(payload) : undefined
    const notes = given ?? (host === 'claude-code' || host === 'codex' ? NONE : fileNotes(data, host))
    const answer = answerFor(host, name, await handleHook(event, { door, ref, features, notes, redact: redactor() }))
    const note = given?.written()
    const whole = note ? { ...answer, note: { since: note.since, told: note.told } } : answer
    return Object.keys(whole).length > 0 ? JSON.stringify(whole) : undefined
  } finally {
    // While others have the database open, there is nothing to tidy up that the end of the process would not.
    if (!isShared) await door.close()
  }
}

const AT_START = JSON.stringify({ note: { since: 0 } })

/** Claude Code starts a session by a command, and tells the rest to the MCP process. */
const NONE: HookNotes = { read: session => ({ session }), write: () => {} }

/** OpenCode's plugin keeps the notes: it sends them along and gets them back. */
function givenNotes(payload: Payload): HookNotes & { readonly written: () => HookNote | undefined } {
  const { since, told } = (payload['note'] ?? {}) as Readonly<Record<string, unknown>>
  const numberOf = (raw: unknown): number | undefined => (typeof raw === 'number' ? raw : undefined)
  let written: HookNote | undefined
  return {
    read: session => ({ session, since: numberOf(since), told: numberOf(told) }),
    write: note => (written = note),
    written: () => written,
  }
}

/** Undefined if it cannot be meant for us. Unknown words are ignored: a newer setup may have written them. */
function parse(words: readonly string[], environment: Environment): Asked | undefined {
  const [name = ''] = words
  const after = (flag: string): string | undefined => {
    const at = words.indexOf(flag)
    return at < 0 ? words.find(word => word.startsWith(`${flag}=`))?.slice(flag.length + 1) : words[at + 1]
  }
  const host = HOOK_HOSTS.find(each => each === after('--host'))
  if (!host) return undefined
  const folder = after('--data') ?? environment['RUNSHEET_DATA'] ?? DEFAULT_DATA
  const has = (feature: string): boolean => !words.includes(`--no-${feature}`)
  return {
    name,
    host,
    data: resolve(expandHome(folder)),
    features: { gate: has('gate'), evidence: has('evidence'), digest: has('digest') },
  }
}

async function readPayload(input: AsyncIterable<Buffer>): Promise<Payload | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) return undefined
    chunks.push(chunk)
  }
  const payload: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  return typeof payload === 'object' && payload !== null ? (payload as Payload) : undefined
}
