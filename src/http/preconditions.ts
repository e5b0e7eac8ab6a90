import * as z from 'zod'
import { invalidId } from '../domain/refusal.ts'
import { type At, hashOf } from '../door/door.ts'
import { HttpError } from './http-error.ts'
import type { Call } from './route.ts'
import { id } from './schemas.ts'

type Header = Call<unknown, unknown, unknown>['header']

export const idempotencyKey = z.object({
  'idempotency-key': id.optional().meta({ description: 'a repeated request gets the answer of the first one' }),
})

export const ifMatch = z.object({
  'if-match': z.string().meta({ description: 'the version that the change is based on' }),
})

export function keyIn(header: Header): string | undefined {
  const key = header('idempotency-key')
  if (key !== undefined && !id.safeParse(key).success) throw invalidId('Idempotency-Key')
  return key
}

export const onceFor = (key: string | undefined, body: unknown): At['once'] =>
  key === undefined ? undefined : { key: `http:${key}`, bodyHash: hashOf(body) }

/** Throws 428 if the version is missing. */
export function versionIn(header: Header, of: 'task' | 'message'): number {
  const raw = header('if-match')
  if (raw === undefined || raw.trim() === '') {
    const message = `If-Match is missing. Send the version of the ${of} that you change.`
    throw new HttpError(428, 'version_required', message, { field: 'if-match' })
  }
  const version = /^\s*(?:"(\d{1,15})"|(\d{1,15}))\s*$/.exec(raw)
  if (!version) {
    const message = `If-Match must be the version of the ${of}: a number.`
    throw new HttpError(400, 'invalid_request', message, { field: 'if-match' })
  }
  return Number(version[1] ?? version[2])
}
