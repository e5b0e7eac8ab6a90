import * as z from 'zod'
import { EVENT_VERSION } from '../domain/event.ts'
import { isId } from '../domain/text.ts'
import { type ConversationHeader, EXPORT_VERSION } from '../door/conversations.ts'

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
export const archiveHeader = z.object({
  format: z.literal('runsheet-logs'),
  version,
  conversations: z.int().min(0),
  templates: z.int().min(0),
  sha256,
})
export type ArchiveHeader = z.output<typeof archiveHeader>

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
