import { createHash, createHmac } from 'node:crypto'
import type { Ref } from '../engine/door/door.ts'

/** Headers as Standard Webhooks defines them. The timestamp is signed with the body. */
export function signedHeaders(
  id: string,
  body: string,
  key: Uint8Array,
  now: number,
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(now / 1_000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** Deterministic: every process and every retry sends an event under the same id. */
export function eventId({ tenant, conversation }: Ref, { seq, timestamp }: { seq: number; timestamp: string }): string {
  const hash = createHash('sha256').update([tenant, conversation, seq, timestamp].join('\n')).digest('hex')
  return `evt_${hash.slice(0, 32)}`
}
