import type { StoredEvent } from '../core/model/event.ts'
import { changeIn, mayName, messageIn } from '../core/text/search-documents.ts'
import {
  MAX_RANKED,
  MAX_RESULTS,
  SEARCH_KINDS,
  excerpt,
  marked,
  ranked,
  termsOf,
  type SearchKind,
  type Term,
} from '../core/text/search.ts'
import type { Task } from '../core/model/task.ts'
import type { SearchResult } from '../core/views/wire.ts'
import { decodeCursor, invalidCursor, paged, type SortKey } from './cursor.ts'
import type { ConversationSummary, Found, Page, Search } from './store.ts'

export interface IndexedDocument {
  readonly kind: SearchKind
  readonly conversation: string
  readonly ref: string
  readonly seq: number
  /** The result of `tokensOf`, joined by spaces. */
  readonly tokens: string
  /** Sort key among the documents of its kind; a list continues after it. */
  readonly place: SortKey
}

export interface Loaded {
  readonly session: ConversationSummary
  readonly task?: Task | undefined
  readonly event?: StoredEvent | undefined
}

export interface SearchIndex {
  readonly places: readonly ('string' | 'number')[]
  /** Finds the documents that contain all terms, kind by kind. Newest first, by write order, not by timestamp. */
  newest(
    tenant: string,
    kinds: readonly SearchKind[],
    terms: readonly Term[],
    options: NewestOptions,
  ): Promise<FoundDocuments>
  /** Results are in the same order; undefined for objects that no longer exist. */
  load(tenant: string, documents: readonly IndexedDocument[]): Promise<readonly (Loaded | undefined)[]>
}

interface FoundDocuments {
  readonly documents: readonly IndexedDocument[]
  /** False if indexing everything committed before the call took too long or failed. */
  readonly isComplete: boolean
}

export interface NewestOptions {
  readonly limit: number
  readonly after?: SortKey | undefined
}

export function searchIn(index: SearchIndex): Search {
  async function list<T>(
    tenant: string,
    text: string,
    page: Page,
    kind: SearchKind,
    item: (loaded: Loaded) => T | undefined,
  ): Promise<Found<T>> {
    const [list, ...after] = decodeCursor(page, ['string', ...index.places]) ?? [kind]
    if (list !== kind) throw invalidCursor()
    const terms = termsOf(text)
    if (terms.length === 0) return { items: [], next_cursor: null }
    const limit = page.limit + 1
    const continued = page.cursor === undefined ? {} : { after }
    const { documents, isComplete } = await index.newest(tenant, [kind], terms, { limit, ...continued })
    const { items, next_cursor } = paged(
      documents,
      page.limit,
      each => each,
      ({ place }) => [kind, ...place],
    )
    const loaded = await index.load(tenant, items)
    return {
      items: loaded.flatMap(each => (each && item(each)) ?? []),
      next_cursor,
      ...(isComplete ? {} : { indexing: true }),
    }
  }
  return {
    conversations: (tenant, text, page) => list(tenant, text, page, 'conversation', ({ session }) => session),
    tasks: (tenant, text, page) => list(tenant, text, page, 'task', ({ task }) => task),
    all: async (tenant, text, { limit, kind }) => {
      const terms = termsOf(text)
      const most = Math.min(limit, MAX_RESULTS)
      if (terms.length === 0) return { results: [], indexing: false }
      const kinds = kind ? [kind] : SEARCH_KINDS
      const { documents, isComplete } = await index.newest(tenant, kinds, terms, { limit: MAX_RANKED })
      const ofKind = (each: SearchKind): IndexedDocument[] => documents.filter(document => document.kind === each)
      const best = kinds.flatMap(each => ranked(ofKind(each), terms))
      const loaded = await index.load(tenant, best.slice(0, most))
      return { results: loaded.flatMap(each => (each ? resultOf(each, terms) : [])), indexing: !isComplete }
    },
  }
}

function resultOf({ session, task, event }: Loaded, terms: readonly Term[]): SearchResult[] {
  const { session_id, title: session_title } = session
  const of = { session_id, session_title }
  if (task) {
    const { id, number, status, created_at, title, details, outcome } = task
    const found = excerpt(details, terms)
    return [
      {
        kind: 'task',
        ...of,
        created_at,
        task_id: id,
        number,
        status,
        title: marked(title, terms),
        excerpt: found.length > 0 ? found : excerpt(outcome ?? '', terms),
      },
    ]
  }
  if (!event)
    return [{ kind: 'conversation', ...of, created_at: session.created_at, title: marked(session_title ?? '', terms) }]
  const message = messageIn(event)
  if (!message) return []
  const { message_id, role, text } = message
  const { turn_id, timestamp } = event
  return [{ kind: 'message', ...of, created_at: timestamp, message_id, turn_id, role, excerpt: excerpt(text, terms) }]
}

/**
 * A document to write, or to delete if its text is null. The store itself fills in a conversation's text, which is its
 * title.
 */
export interface DocumentWrite<K> {
  readonly conversation: K
  readonly kind: SearchKind
  readonly ref: string
  readonly text: string | null
  readonly event: StoredEvent
  /** The first event that changed the document in this slice; stores need its fields. */
  readonly first: IndexedEvent<K>
}

export interface IndexedEvent<K> {
  readonly conversation: K
  readonly event: StoredEvent
}

/** Characters per slice, so that it blocks the event loop for only a few milliseconds. */
const MAX_CHARACTERS = 20_000

/**
 * Turns events into document writes, up to the size of a slice and in order of first appearance. The last change to a
 * document wins. `taken` is the number of events covered.
 */
export function sliceOf<K extends string | number, E extends IndexedEvent<K>>(
  events: readonly E[],
): { readonly taken: number; readonly writes: readonly (DocumentWrite<K> & { readonly first: E })[] } {
  const writes = new Map<string, DocumentWrite<K> & { readonly first: E }>()
  let characters = 0
  let taken = 0
  for (const each of events) {
    if (characters >= MAX_CHARACTERS) break
    taken += 1
    const { conversation, event } = each
    const change = changeIn(event)
    const changes = [
      ...(mayName(event) ? [{ kind: 'conversation' as const, ref: '', text: '' }] : []),
      ...(change ? [change] : []),
    ]
    for (const { kind, ref, text } of changes) {
      const key = `${conversation}/${kind}/${ref}`
      const first = writes.get(key)?.first ?? each
      writes.set(key, { conversation, kind, ref, text, event, first })
      characters += text?.length ?? 0
    }
  }
  return { taken, writes: [...writes.values()] }
}
