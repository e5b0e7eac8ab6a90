import { createHash } from 'node:crypto'
import { EVENT_VERSION, type EventType, type StoredEvent } from '../../core/model/event.ts'
import { checked } from './checks.ts'
import type { Seam } from './storage-health.ts'
import { StoreError } from '../../store/store-error.ts'
import type { LiveText, Queries, Ref } from '../../store/store.ts'

export interface EventFilter {
  readonly types?: readonly EventType[] | undefined
  readonly task?: string | undefined
  readonly last?: number | undefined
}

export type Conversations = ReturnType<typeof conversationsIn>

/** Lists and logs of conversations. */
export const conversationsIn = (store: Seam) => ({
  list: (...page: Parameters<Queries['conversations']>) => store.queries.conversations(...page),
  summaries: (tenant: string, conversations: readonly string[]) => store.queries.summaries(tenant, conversations),
  summary: async (ref: Ref) => store.queries.conversation(checked(ref)),
  events: async (ref: Ref, filter: EventFilter) => store.queries.events(checked(ref), filter),
  /** Returns up to `limit` events after `seq`, in log order. `maxBytes` limits the page, but one event always fits. */
  eventsAfter: async (ref: Ref, seq: number, limit: number, maxBytes?: number) =>
    store.eventsAfter(checked(ref), seq, limit, maxBytes),
})

/** The text of running steps: overwritten as it grows, never part of the log. */
export const liveTextIn = ({ live }: Seam): LiveText => ({
  write: async (ref, entry) => live.write(checked(ref), entry),
  read: async ref => live.read(checked(ref)),
  clear: async ref => live.clear(checked(ref)),
})

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
