import type { StoredEvent } from '../domain/event.ts'
import { keyOf, keysOf, matchesIn, type SearchKind } from '../domain/search.ts'
import { tokensOf } from '../domain/search-tokens.ts'
import { type IndexedDocument, kindByKind, sliceOf } from './search.ts'
import type { Ref } from './store.ts'

/** A document with its number: a later one is newer. */
interface Numbered extends IndexedDocument {
  readonly number: number
}

/** An index in memory: for each key of a tenant and kind the documents that have it, oldest first. */
export class MemoryIndex {
  readonly #documents = new Map<string, Numbered>()
  readonly #byKey = new Map<string, Numbered[]>()
  #last = 0

  /** Indexes the events of a commit; `title` is that of the conversation. */
  add({ tenant, conversation }: Ref, title: string | null, events: readonly StoredEvent[]): void {
    let left = events.map(event => ({ conversation, event }))
    while (left.length > 0) {
      const { taken, writes } = sliceOf<string, (typeof left)[number]>(left)
      for (const { kind, ref, text, event } of writes) {
        const content = kind === 'conversation' ? title : text
        const tokens = content === null ? null : tokensOf(content).join(' ')
        this.#put(tenant, { kind, conversation, ref, seq: event.seq }, tokens)
      }
      left = left.slice(taken)
    }
  }

  readonly newest = kindByKind(
    async () => true,
    (tenant, kind, terms, limit, [after = Infinity] = []) => {
      const lists = terms.map(term => this.#byKey.get(listKey(tenant, kind, keyOf(term))) ?? [])
      const [shortest = []] = lists.sort((a, b) => a.length - b.length)
      const found: IndexedDocument[] = []
      for (let index = shortest.length - 1; index >= 0 && found.length < limit; index -= 1) {
        const document = shortest[index]
        if (document && document.number < Number(after) && matchesIn(document.tokens, terms) > 0) found.push(document)
      }
      return found
    },
  )

  #put(
    tenant: string,
    document: Pick<IndexedDocument, 'kind' | 'conversation' | 'ref' | 'seq'>,
    tokens: string | null,
  ): void {
    const name = `${tenant}/${document.conversation}/${document.kind}/${document.ref}`
    const known = this.#documents.get(name)
    if (known?.tokens === tokens) return
    if (known) this.#documents.delete(name)
    if (known) for (const list of this.#listsOf(tenant, known)) list.splice(placeIn(list, known.number), 1)
    if (tokens === null) return
    const number = known?.number ?? (this.#last += 1)
    const indexed = { ...document, tokens, number, place: [number] }
    this.#documents.set(name, indexed)
    for (const list of this.#listsOf(tenant, indexed)) list.splice(placeIn(list, number), 0, indexed)
  }

  #listsOf(tenant: string, { kind, tokens }: Numbered): Numbered[][] {
    return Array.from(keysOf(tokens === '' ? [] : tokens.split(' ')), key => {
      const name = listKey(tenant, kind, key)
      const list = this.#byKey.get(name) ?? []
      this.#byKey.set(name, list)
      return list
    })
  }
}

const listKey = (tenant: string, kind: SearchKind, key: string): string => `${tenant}/${kind}/${key}`

/** Where a number is, or belongs. */
function placeIn(list: readonly Numbered[], number: number): number {
  // Nearly always a new document, which comes last.
  let [low, high] = [0, list.length]
  if ((list.at(-1)?.number ?? 0) < number) return high
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle]?.number ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}
