import { hash } from 'node:crypto'
import type { EventRow } from '../rows.ts'
import { type Ref, refKey } from '../store.ts'

/**
 * The link of a stored event in the hash chain of its conversation: covers the event and the link before it. Finds
 * damage, not forgery: the chain can be computed by anyone who can write the file.
 */
export function linkOf(ref: Ref, before: string | null, { seq, v, type, turn_id, timestamp, data }: EventRow): string {
  return digestOf(`${before ?? refKey(ref)}\n${seq}\n${v}\n${type}\n${turn_id ?? ''}\n${timestamp}\n${data}`)
}

/** 132 bits of SHA-256. */
export const digestOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22)
