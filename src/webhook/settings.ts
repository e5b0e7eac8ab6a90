import { isIP } from 'node:net'
import { createHash, createHmac } from 'node:crypto'
import type { Ref } from '../engine/door/door.ts'

export interface WebhookSettings {
  readonly url: URL
  readonly key: Uint8Array
  /** Hosts that may have private addresses and use plain HTTP. */
  readonly hosts: ReadonlySet<string>
}

export interface WebhookText {
  readonly url?: string | undefined
  readonly secret?: string | undefined
  readonly hosts?: readonly string[] | undefined
}

/** A shorter secret could be guessed. */
const MIN_SECRET_LENGTH = 32

const PREFIX = 'whsec_'

/** Parses the settings of a webhook; returns the error as a string, or undefined if none are set. */
export function webhookFrom({ url, secret = '', hosts = [] }: WebhookText): WebhookSettings | string | undefined {
  if (url === undefined) return undefined
  const named = new Set(hosts.map(host => host.trim().toLowerCase()).filter(host => host !== ''))
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '') {
    return 'the URL of the webhook must be an https:// URL without a user name'
  }
  const host = hostOf(parsed)
  if (parsed.protocol === 'http:' && !named.has(host)) {
    return `the webhook must be an https:// URL; without TLS only a host that is named: --webhook-hosts ${host}`
  }
  if (secret.length < MIN_SECRET_LENGTH) {
    return `the webhook needs a secret of at least ${MIN_SECRET_LENGTH} characters: set RUNSHEET_WEBHOOK_SECRET`
  }
  return { url: parsed, key: keyOf(secret), hosts: named }
}

/** The host of a URL; IPv6 without brackets. */
export function hostOf({ hostname }: URL): string {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? hostname : bare
}

/** Standard Webhooks: Base64 after the prefix. Any other text is used as is. */
const keyOf = (secret: string): Uint8Array =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret)

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
