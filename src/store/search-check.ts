import type { StoredEvent } from '../core/model/event.ts'
import { changeIn, mayName } from '../core/text/search-documents.ts'
import { tokensOf } from '../core/text/search-tokens.ts'
import type { SearchKind } from '../core/text/search.ts'

export interface DocumentTokens {
  /** `documentName` of its kind and ref. */
  readonly name: string
  readonly tokens: string
}

export const documentName = (kind: SearchKind, ref: string): string => (ref === '' ? kind : `${kind} ${ref}`)

export class ExpectedDocuments {
  readonly #storable: (text: string) => string
  readonly #texts = new Map<string, string>()
  #isNamed = false

  constructor(storable: (text: string) => string) {
    this.#storable = storable
  }

  add(event: StoredEvent): void {
    this.#isNamed ||= mayName(event)
    const change = changeIn(event)
    if (!change) return
    const name = documentName(change.kind, this.#storable(change.ref))
    if (change.text === null) this.#texts.delete(name)
    else this.#texts.set(name, change.text)
  }

  all(title: string | null): Map<string, DocumentTokens> {
    const texts = new Map(this.#texts)
    if (this.#isNamed && title !== null) texts.set(documentName('conversation', ''), title)
    return new Map(
      Array.from(texts, ([name, text]) => [name, { name, tokens: tokensOf(this.#storable(text)).join(' ') }]),
    )
  }
}
