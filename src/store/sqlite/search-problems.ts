import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { keysOf, SEARCH_KINDS } from '../../domain/search.ts'
import { documentName } from '../search-check.ts'
import { refKey } from '../store.ts'
import { refOf } from './queries.ts'
import { scopeOf } from './search-indexer.ts'

/** Yields documents whose indexed words differ from their own. */
export function* searchProblems(db: DatabaseSync): Generator<string> {
  const found = foundIn(db)
  const documents = db.prepare(
    `SELECT d.id, kind, ref, tokens, t.id AS tenant_id, c.tenant, c.conversation
     FROM search_documents d JOIN conversations c ON c.id = conversation_id JOIN search_tenants t ON t.tenant = c.tenant`,
  )
  for (const row of documents.iterate()) {
    const id = Number(row['id'])
    const kind = SEARCH_KINDS[Number(row['kind'])] ?? 'conversation'
    const scope = scopeOf(Number(row['tenant_id']), kind)
    const tokens = String(row['tokens'])
    const expected = tokens === '' ? 0 : sumOf(Array.from(keysOf(tokens.split(' ')), key => scope + key))
    const isFound = (found.get(id) ?? 0) === expected
    found.delete(id)
    if (!isFound)
      yield `${refKey(refOf(row))}: search does not find ${documentName(kind, String(row['ref']))} as it should`
  }
  if (found.size > 0) yield `search finds ${found.size} entries that do not exist`
}

function foundIn(db: DatabaseSync): Map<number, number> {
  const sums = new Map<number, number>()
  db.exec('CREATE VIRTUAL TABLE temp.search_words USING fts5vocab(main, search_keys, instance)')
  try {
    const words = db.prepare('SELECT term, doc FROM temp.search_words')
    words.setReturnArrays(true)
    for (const row of words.iterate() as Iterable<unknown>) {
      const [term, document] = row as readonly [string, number]
      sums.set(document, (sums.get(document) ?? 0) + crc32(term))
    }
    return sums
  } finally {
    db.exec('DROP TABLE temp.search_words')
  }
}

const sumOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + crc32(word), 0)
