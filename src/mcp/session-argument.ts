import { createHmac, timingSafeEqual } from 'node:crypto'
import { hostId, hostReference } from '../hooks/host-id.ts'

/** Added by Runsheet's OpenCode plugin, because one process of ours serves all its chats. */
export const SESSION_ARGUMENT = 'runsheet_session'

export interface SignedCall {
  readonly session: string
  readonly call: string | undefined
}

export interface SignedInput {
  readonly input: unknown
  /** `invalid`: a model made it up, or it was signed with another secret. */
  readonly signed: SignedCall | 'invalid' | undefined
}

export function signedInput(raw: unknown, secret: () => string | undefined): SignedInput {
  if (typeof raw !== 'object' || raw === null || !Object.hasOwn(raw, SESSION_ARGUMENT)) {
    return { input: raw, signed: undefined }
  }
  const { [SESSION_ARGUMENT]: signature, ...input } = raw as Readonly<Record<string, unknown>>
  return { input, signed: verified(signature, secret()) ?? 'invalid' }
}

/** The plugin's signature. It covers the call, so that no other call can reuse it. */
export const signatureOf = (secret: string, id: string, call: string): string =>
  createHmac('sha256', secret)
    .update(JSON.stringify([id, call]))
    .digest('hex')

function verified(signature: unknown, secret: string | undefined): SignedCall | undefined {
  if (secret === undefined || typeof signature !== 'object' || signature === null) return undefined
  const { id, call, mac } = signature as Readonly<Record<string, unknown>>
  if (typeof id !== 'string' || typeof call !== 'string' || typeof mac !== 'string') return undefined
  const expected = Buffer.from(signatureOf(secret, id, call))
  const given = Buffer.from(mac)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  const session = hostId(id)
  return session === undefined ? undefined : { session, call: hostReference(call) }
}
