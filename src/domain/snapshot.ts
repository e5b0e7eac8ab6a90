import type { Conversation } from './conversation.ts'
import { Table, type TableRecord } from './table.ts'

/** Raise it whenever the state or `apply` changes: stores then fold the log instead of reading older snapshots. */
export const SNAPSHOT_VERSION = 3

/** The state of a conversation as plain data: `JSON.stringify` and `JSON.parse` keep all of it. */
export type ConversationSnapshot = { readonly version: number } & {
  readonly [K in keyof Conversation]: Conversation[K] extends Table<infer V> ? TableRecord<V> : Conversation[K]
}

export function snapshotOf(state: Conversation): ConversationSnapshot {
  return {
    version: SNAPSHOT_VERSION,
    ...state,
    tasks: state.tasks.toRecord(),
    adopted: state.adopted.toRecord(),
    edits: state.edits.toRecord(),
    rejections: state.rejections.toRecord(),
    turns: state.turns.toRecord(),
    reviews: state.reviews.toRecord(),
  }
}

/** The state that a snapshot was taken of; a snapshot of another version is thrown out. */
export function conversationOf({ version, ...snapshot }: ConversationSnapshot): Conversation {
  if (version !== SNAPSHOT_VERSION) {
    throw new TypeError(`A snapshot of version ${SNAPSHOT_VERSION} was expected, this one is of version ${version}.`)
  }
  return {
    ...snapshot,
    tasks: Table.fromRecord(snapshot.tasks),
    adopted: Table.fromRecord(snapshot.adopted),
    edits: Table.fromRecord(snapshot.edits),
    rejections: Table.fromRecord(snapshot.rejections),
    turns: Table.fromRecord(snapshot.turns),
    reviews: Table.fromRecord(snapshot.reviews),
  }
}

/** A snapshot as text, so that a cold load need not fold a long log. Derived, never the truth. */
export const freeze = (state: Conversation): string => JSON.stringify(snapshotOf(state))

export const thaw = (text: string): Conversation => conversationOf(JSON.parse(text) as ConversationSnapshot)

/** Longer lists are frozen less often, so that the cost per event stays the same. */
export const snapshotIsDue = (state: Conversation, lastSnapshotSeq: number): boolean =>
  state.seq - lastSnapshotSeq >= Math.max(200, state.tasks.size)
