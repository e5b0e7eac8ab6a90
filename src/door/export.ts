import { createHash } from 'node:crypto'
import { EVENT_VERSION, type StoredEvent } from '../domain/event.ts'
import { StoreError } from '../store/store-error.ts'
import type { Ref } from '../store/store.ts'

/** Version of the export format: JSON lines, of which the first describes the rest. */
export const EXPORT_VERSION = 1

/** The first line of a conversation. `sha256` covers its event lines, including line ends. */
export interface ConversationHeader {
  readonly format: 'runsheet-log'
  readonly version: number
  readonly event_version: number
  readonly session_id: string
  readonly events: number
  readonly sha256: string
}

export interface LogSource {
  eventsAfter(ref: Ref, seq: number, limit: number, maxBytes?: number): Promise<readonly StoredEvent[]>
}

const PAGE = 100
const PAGE_BYTES = 1024 * 1024

/** Escapes characters that some programs treat as line ends. */
export const lineOf = (value: unknown): string =>
  `${JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`

/**
 * Yields a conversation up to event `head`, some lines at a time. The log is read twice because the first line holds
 * the checksum, and a long log does not fit into memory.
 */
export async function* exportedConversation(source: LogSource, ref: Ref, head: number): AsyncGenerator<string> {
  const hash = createHash('sha256')
  for await (const lines of linesOf(source, ref, head)) hash.update(lines)
  yield lineOf({
    format: 'runsheet-log',
    version: EXPORT_VERSION,
    event_version: EVENT_VERSION,
    session_id: ref.conversation,
    events: head,
    sha256: hash.digest('hex'),
  } satisfies ConversationHeader)
  yield* linesOf(source, ref, head)
}

async function* linesOf(source: LogSource, ref: Ref, head: number): AsyncGenerator<string> {
  for (let seq = 0; seq < head; ) {
    const events = await source.eventsAfter(ref, seq, Math.min(PAGE, head - seq), PAGE_BYTES)
    const last = events.at(-1)
    if (!last) throw new StoreError('corrupt', `The log of ${ref.conversation} ends at ${seq} of ${head}.`)
    yield events.map(lineOf).join('')
    seq = last.seq
  }
}
