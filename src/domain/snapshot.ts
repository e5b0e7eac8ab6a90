import type { Conversation } from './conversation.ts'
import { Table } from './table.ts'

/** Raise it whenever the state or `apply` changes: older snapshots are then passed over and the log is folded. */
export const SNAPSHOT_VERSION = 2

const TABLES = ['tasks', 'adopted', 'edits', 'rejections', 'turns', 'reviews'] as const

/** A state as text, so that a cold load need not fold a long log. Derived, never the truth. */
export function freeze(state: Conversation): string {
  const tables = Object.fromEntries(TABLES.map(name => [name, [...state[name].entries()]]))
  return JSON.stringify({ ...state, ...tables })
}

export function thaw(text: string): Conversation {
  const raw = JSON.parse(text) as Record<string, unknown>
  const tables = Object.fromEntries(TABLES.map(name => [name, Table.from(raw[name] as [string, unknown][])]))
  return { ...raw, ...tables } as unknown as Conversation
}

/** A long list is frozen less often, so that its size is paid for by as many events. */
export const snapshotIsDue = (state: Conversation, lastSnapshotSeq: number): boolean =>
  state.seq - lastSnapshotSeq >= Math.max(200, state.tasks.size)
