import type { Claim } from '../../core/proof/claim.ts'
import { SEALED } from '../../core/model/task.ts'
import { hashOf } from '../door/door.ts'

/** SHA-256 of the text that a verdict is about. A task's seal stays the same until it is reworded. */
export const sealOf = (text: Pick<Claim, (typeof SEALED)[number]>): string =>
  Buffer.from(hashOf(SEALED.map(field => text[field])), 'base64url').toString('hex')
