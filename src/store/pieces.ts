import { emptyConversation, fold } from '../core/model/conversation.ts'
import type { Commit } from './commit.ts'
import type { Staged } from './stage.ts'
import { StoreError } from './store-error.ts'
import type { Ref } from './store.ts'

/** Events per piece; a larger commit stays whole. */
const PIECE = 200

/** Splits a log into pieces, to be written in order and in one transaction. Only one piece is in memory at a time. */
export function* piecesOf({ conversation }: Ref, commits: Iterable<Commit>): Generator<Staged> {
  let before = emptyConversation(conversation)
  let some: Commit[] = []
  let size = 0
  const piece = (): Staged => {
    const after = some.reduce((state, { events }) => fold(state, events), before)
    const staged = { before, after, commits: some, keys: [], rejectRefused: none, resolve: none, reject: none }
    before = after
    some = []
    size = 0
    return staged
  }
  for (const commit of commits) {
    some.push(commit)
    size += commit.events.length
    if (size >= PIECE) yield piece()
  }
  if (size > 0) yield piece()
}

/** A log is imported whole or not at all. */
export const logExists = (): StoreError =>
  new StoreError('id_taken', 'There is a conversation with this id already; nothing was written.')

const none = (): void => {}
