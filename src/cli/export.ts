import { createHash } from 'node:crypto'
import * as z from 'zod'
import { EVENT_VERSION } from '../core/model/event.ts'
import type { Template } from '../core/model/template.ts'
import { isId } from '../core/model/text.ts'
import { type ConversationHeader, EXPORT_VERSION, exportedConversation, lineOf } from '../engine/door/conversations.ts'
import { StoreError } from '../store/store-error.ts'
import type { Ref, Store } from '../store/store.ts'
import { CliError, reasonOf } from './cli-error.ts'
import { existingFolder } from './server/data-folder.ts'
import type { Environment } from './environment.ts'
import { checkStore, openStore, storeLocation, type StoreOptions } from './server/open-store.ts'
import { counted, type Output, OutputFile, StandardOutput } from './terminal/output.ts'

export interface ExportOptions extends StoreOptions {
  /** One conversation; all if absent. */
  readonly session?: string
  readonly all?: boolean
  readonly tenant: string
  readonly out?: string
  readonly force?: boolean
  readonly environment: Environment
}

const LIST_PAGE = 200

export async function writeExport(options: ExportOptions): Promise<void> {
  const { session, all = false, tenant, out, force = false } = options
  checkStore(options.store)
  if (all === (session !== undefined)) throw new CliError('name one conversation, or export everything with --all.')
  if (session !== undefined && !isId(session)) throw new CliError('a conversation is 1 to 128 letters, digits, - or _.')
  if (storeLocation(options.store) === 'folder') existingFolder(options)
  const store = await openStore(options)
  try {
    const output = out === undefined ? new StandardOutput() : new OutputFile(out, force)
    try {
      const sessions = session === undefined ? await sessionsOf(store, tenant) : [session]
      if (session === undefined) await writeHead(store, tenant, sessions.length, output)
      let events = 0
      for (const conversation of sessions) events += await writeConversation(store, { tenant, conversation }, output)
      await output.finish()
      if (out !== undefined)
        console.error(`Exported ${counted(sessions.length, 'conversation')}, ${counted(events, 'event')} to ${out}`)
    } finally {
      output.discard()
    }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(`cannot export: ${reasonOf(error)}`)
  } finally {
    await store.close()
  }
}

/** Writes a snapshot, without later events; resolves with the number of events. */
async function writeConversation(store: Store, ref: Ref, output: Output): Promise<number> {
  await takeInEdits(store, ref)
  const head = (await store.queries.conversation(ref))?.seq
  if (head === undefined) throw new CliError(`there is no conversation ${ref.conversation}.`)
  for await (const lines of exportedConversation(store, ref, head)) await output.write(lines)
  return head
}

async function writeHead(store: Store, tenant: string, conversations: number, output: Output): Promise<void> {
  const templates = (await store.templates?.list(tenant)) ?? []
  await output.write(lineOf(archiveHeaderOf(conversations, templates)))
  for (const template of templates) await output.write(lineOf(template))
}

/** In order of creation. */
async function sessionsOf(store: Store, tenant: string): Promise<readonly string[]> {
  const sessions: string[] = []
  let cursor: string | undefined
  do {
    const page = await store.queries.conversations(tenant, { limit: LIST_PAGE, cursor }, 'all')
    sessions.push(...page.items.map(({ session_id }) => session_id))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return sessions.toReversed()
}

/** Records external edits of task files in the log first. An unreadable task file has none. */
async function takeInEdits(store: Store, ref: Ref): Promise<void> {
  try {
    await store.load(ref, 'list')
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'file_invalid') throw error
    console.error(`Runsheet: ${error.file}: ${reasonOf(error)} Its log is exported without it.`)
  }
}

function archiveHeaderOf(conversations: number, templates: readonly Template[]): ArchiveHeader {
  const hash = createHash('sha256')
  for (const template of templates) hash.update(lineOf(template))
  return {
    format: 'runsheet-logs',
    version: EXPORT_VERSION,
    conversations,
    templates: templates.length,
    sha256: hash.digest('hex'),
  }
}

// An export is JSON lines. One conversation: a header, then each event as stored. All conversations: a header with the
// counts, one line per template, then each conversation as above.

const id = z.string().refine(isId)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const version = z.int().min(1)

/** `sha256` covers the event lines, including line ends. */
export const conversationHeader = z.object({
  format: z.literal('runsheet-log'),
  version,
  event_version: z.int().min(1),
  session_id: id,
  events: z.int().min(1),
  sha256,
}) satisfies z.ZodType<ConversationHeader>

/** `sha256` covers the template lines. */
const archiveHeader = z.object({
  format: z.literal('runsheet-logs'),
  version,
  conversations: z.int().min(0),
  templates: z.int().min(0),
  sha256,
})
type ArchiveHeader = z.output<typeof archiveHeader>

export const header = z.discriminatedUnion('format', [conversationHeader, archiveHeader])

const FORMATS: ReadonlySet<unknown> = new Set(['runsheet-log', 'runsheet-logs'])
/** Format names used before the first release. */
const EARLIER: ReadonlySet<unknown> = new Set(['runsheet-conversation', 'runsheet-archive'])

/** Returns why a first line is not an export's; undefined if it is valid. */
export function formatProblem(line: unknown): string | undefined {
  const format = typeof line === 'object' && line !== null && 'format' in line ? line.format : undefined
  if (EARLIER.has(format)) return 'made by an earlier checkout, and cannot be imported'
  return FORMATS.has(format) ? undefined : 'it is not the first line of an export of Runsheet'
}

/** Returns why this version cannot be read; undefined if it can. */
export function versionProblem(given: z.output<typeof header>): string | undefined {
  const isOurs =
    given.version === EXPORT_VERSION && (!('event_version' in given) || given.event_version === EVENT_VERSION)
  return isOurs ? undefined : 'it was exported by a newer Runsheet. Update Runsheet'
}
