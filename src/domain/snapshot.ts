import type { Conversation } from './conversation.ts'
import { Table, type TableRecord } from './table.ts'

/** Raise it whenever the state or `apply` changes: stores then ignore other snapshots and fold the log. */
export const SNAPSHOT_VERSION = 1

/**
 * The state of a conversation, to apply events to.
 *
 * `JSON.stringify` and `JSON.parse` keep all of it.
 */
export type ConversationSnapshot = {
  /** The version of this format; clients of another version cannot read it. */
  readonly version: number
} & {
  readonly [K in keyof Conversation]: Conversation[K] extends Table<infer V> ? TableRecord<V> : Conversation[K]
}

export function snapshotOf(state: Conversation): ConversationSnapshot {
  return {
    version: SNAPSHOT_VERSION,
    ...state,
    tasks: state.tasks.toRecord(),
    plans: state.plans.toRecord(),
    edits: state.edits.toRecord(),
    rejections: state.rejections.toRecord(),
    turns: state.turns.toRecord(),
    reviews: state.reviews.toRecord(),
    proof: state.proof.toRecord(),
    runs: state.runs.toRecord(),
    claims: state.claims.toRecord(),
    removed: state.removed.toRecord(),
  }
}

/** Restores a state from its snapshot. Throws if the snapshot has another version. */
export function conversationOf({ version, ...snapshot }: ConversationSnapshot): Conversation {
  if (version !== SNAPSHOT_VERSION) {
    throw new TypeError(`Expected a snapshot of version ${SNAPSHOT_VERSION}, got version ${version}.`)
  }
  return {
    ...snapshot,
    tasks: Table.fromRecord(snapshot.tasks),
    plans: Table.fromRecord(snapshot.plans),
    edits: Table.fromRecord(snapshot.edits),
    rejections: Table.fromRecord(snapshot.rejections),
    turns: Table.fromRecord(snapshot.turns),
    reviews: Table.fromRecord(snapshot.reviews),
    proof: Table.fromRecord(snapshot.proof),
    runs: Table.fromRecord(snapshot.runs),
    claims: Table.fromRecord(snapshot.claims),
    removed: Table.fromRecord(snapshot.removed),
  }
}

/** A snapshot as text, which saves a cold load from folding a long log. Always derived from the log. */
export const freeze = (state: Conversation): string => JSON.stringify(snapshotOf(state))

export const thaw = (text: string): Conversation => conversationOf(JSON.parse(text) as ConversationSnapshot)

/** Long lists are frozen less often, which keeps the cost per event constant. */
export const snapshotIsDue = (state: Conversation, lastSnapshotSeq: number): boolean =>
  state.seq - lastSnapshotSeq >= Math.max(200, state.tasks.size)
