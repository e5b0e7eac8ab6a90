import { invalidId } from '../domain/refusal.ts'
import { isId } from '../domain/text.ts'
import type { Ref } from '../store/store.ts'

/** Returns the ref if both ids are valid, throws otherwise. Some stores use them as file names. */
export function checked<T extends Ref>(ref: T): T {
  checkTenant(ref.tenant)
  if (!isId(ref.conversation)) throw invalidId('session_id')
  return ref
}

export function checkTenant(tenant: string): void {
  if (!isId(tenant)) throw invalidId('tenant')
}
