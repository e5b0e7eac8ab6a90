import * as z from 'zod'
import { EVENT_VERSION } from '../domain/event.ts'
import { isId } from '../domain/text.ts'
import { type ConversationHeader, EXPORT_VERSION } from '../door/export.ts'

// An export is JSON lines. One conversation: a line that says what follows, then each event as it is stored. All of them:
// a line that says how many, a line for each template, then each conversation as above.

const id = z.string().refine(isId)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const version = z.int().min(1)

/** The first line of a conversation. `sha256`: of its lines of events, line ends included. */
export const conversationHeader = z.object({
  format: z.literal('runsheet-conversation'),
  version,
  event_version: z.int().min(1),
  session_id: id,
  events: z.int().min(1),
  sha256,
}) satisfies z.ZodType<ConversationHeader>

/** The first line of an export of everything. `sha256`: of the lines of templates. */
export const archiveHeader = z.object({
  format: z.literal('runsheet-archive'),
  version,
  conversations: z.int().min(0),
  templates: z.int().min(0),
  sha256,
})
export type ArchiveHeader = z.output<typeof archiveHeader>

export const header = z.discriminatedUnion('format', [conversationHeader, archiveHeader])

/** Why a file of this version cannot be read; undefined if it can. */
export function versionProblem(given: z.output<typeof header>): string | undefined {
  const newer = given.version > EXPORT_VERSION || ('event_version' in given && given.event_version > EVENT_VERSION)
  return newer ? 'it was exported by a newer Runsheet. Update Runsheet' : undefined
}
