import { type Conversation, emptyConversation, SNAPSHOT_VERSION } from './conversation.ts'
import { Table, type TableRecord } from './table.ts'

export { SNAPSHOT_VERSION }

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
  const fields = Object.entries(state).map(([name, value]) => [name, value instanceof Table ? value.toRecord() : value])
  return { version: SNAPSHOT_VERSION, ...(Object.fromEntries(fields) as Omit<ConversationSnapshot, 'version'>) }
}

/** Restores a state from its snapshot. Throws if the snapshot has another version. */
export function conversationOf({ version, ...snapshot }: ConversationSnapshot): Conversation {
  if (version !== SNAPSHOT_VERSION) {
    throw new TypeError(`Expected a snapshot of version ${SNAPSHOT_VERSION}, got version ${version}.`)
  }
  const empty = new Map<string, unknown>(Object.entries(emptyConversation(snapshot.session_id)))
  const fields = Object.entries(snapshot).map(([name, value]) => [
    name,
    empty.get(name) instanceof Table ? Table.fromRecord(value as TableRecord<unknown>) : value,
  ])
  return Object.fromEntries(fields) as Conversation
}

/** A snapshot as text, which saves a cold load from folding a long log. Always derived from the log. */
export const freeze = (state: Conversation): string => JSON.stringify(snapshotOf(state))

export const thaw = (text: string): Conversation => conversationOf(JSON.parse(text) as ConversationSnapshot)

/** Long lists are frozen less often, which keeps the cost per event constant. */
export const snapshotIsDue = (state: Conversation, lastSnapshotSeq: number): boolean =>
  state.seq - lastSnapshotSeq >= Math.max(200, state.tasks.size)
