import type { StoredEvent } from '../domain/event.ts'
import { changeIn, mayName, messageIn } from '../domain/search-documents.ts'
import { excerpt, marked } from '../domain/search-marks.ts'
import { MAX_RANKED, MAX_RESULTS, ranked, SEARCH_KINDS, type SearchKind, type Term, termsOf } from '../domain/search.ts'
import type { Task } from '../domain/task.ts'
import type { SearchResult } from '../domain/wire.ts'
import { decodeCursor, invalidCursor, paged, type SortKey } from './cursor.ts'
import type { ConversationSummary, Found, Page, Search } from './store.ts'

/** An indexed document. */
export interface IndexedDocument {
  readonly kind: SearchKind
  readonly conversation: string
  /** Which one of its kind in its conversation. */
  readonly ref: string
  /** The event that has its text. */
  readonly seq: number
  /** As `tokensOf` gives them, joined by spaces. */
  readonly tokens: string
  /** Its place among those of its kind, by which the store continues a list. */
  readonly place: SortKey
}

/** What a document is about, as it is now. */
export interface Loaded {
  readonly session: ConversationSummary
  readonly task?: Task | undefined
  readonly event?: StoredEvent | undefined
}

/** A store's index. */
export interface SearchIndex {
  /** The types of a place. */
  readonly places: readonly ('string' | 'number')[]
  /**
   * The documents of each kind that hold all terms, newest first: those written later, whatever the clock said. Kind after
   * kind, until there are `enough`.
   */
  newest(
    tenant: string,
    kinds: readonly SearchKind[],
    terms: readonly Term[],
    options: NewestOptions,
  ): Promise<FoundDocuments>
  /** In the same order; undefined where it is gone by now. */
  load(tenant: string, documents: readonly IndexedDocument[]): Promise<readonly (Loaded | undefined)[]>
}

export interface FoundDocuments {
  readonly documents: readonly IndexedDocument[]
  /** Whether all that was committed before the call was indexed; if not, that would have taken too long, or failed. */
  readonly isComplete: boolean
}

export interface NewestOptions {
  /** How many of a kind. */
  readonly limit: number
  /** How many in all; the kinds that follow may be left out. */
  readonly enough: number
  /** The place behind which a list continues. */
  readonly after?: SortKey | undefined
}

/** `newest` of an index that looks for one kind at a time, once `catchUp` has indexed what was committed, or says it has not. */
export const kindByKind =
  (
    catchUp: () => Promise<boolean>,
    newest: (
      tenant: string,
      kind: SearchKind,
      terms: readonly Term[],
      limit: number,
      after?: SortKey,
    ) => IndexedDocument[],
  ): SearchIndex['newest'] =>
  async (tenant, kinds, terms, { limit, enough, after }) => {
    const isComplete = await catchUp()
    const documents: IndexedDocument[] = []
    for (const kind of kinds) {
      if (documents.length >= enough) break
      documents.push(...newest(tenant, kind, terms, limit, after))
    }
    return { documents, isComplete }
  }

/** The searches of every store. */
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
    const { documents, isComplete } = await index.newest(tenant, [kind], terms, { limit, enough: limit, ...continued })
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
      const { documents, isComplete } = await index.newest(tenant, kinds, terms, { limit: MAX_RANKED, enough: most })
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

/** A document to write, or to delete if its text is null. A conversation's is its title, which the store knows. */
export interface DocumentWrite<K> {
  readonly conversation: K
  readonly kind: SearchKind
  readonly ref: string
  readonly text: string | null
  readonly event: StoredEvent
  /** What the store needs besides, from the event that came first. */
  readonly first: IndexedEvent<K>
}

/** An event to index. */
export interface IndexedEvent<K> {
  readonly conversation: K
  readonly event: StoredEvent
}

/** Characters of a slice, so that it holds the event loop for a few milliseconds only. */
const MAX_CHARACTERS = 20_000

/**
 * What the events change, as far as a slice goes, in the order in which the documents came up; of several changes to one
 * document the last. `taken` is how many of the events that covers.
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
