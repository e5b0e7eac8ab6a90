import type { Claim } from '../domain/claim.ts'
import { SEALED } from '../domain/task.ts'
import { hashOf } from '../door/door.ts'

/** A SHA-256 of the text that a verdict is about. The seal of the task is the same as long as nobody rewords it. */
export const sealOf = (text: Pick<Claim, (typeof SEALED)[number]>): string =>
  Buffer.from(hashOf(SEALED.map(field => text[field])), 'base64url').toString('hex')
