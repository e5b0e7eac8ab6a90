import { invalidId } from '../domain/refusal.ts'
import { isId } from '../domain/text.ts'
import type { Ref } from '../store/store.ts'

/** The same ref, if both ids have the form that every store can keep: some are names of files. Throws otherwise. */
export function checked<T extends Ref>(ref: T): T {
  checkTenant(ref.tenant)
  if (!isId(ref.conversation)) throw invalidId('session_id')
  return ref
}

/** Throws unless the tenant has the form of an id. */
export function checkTenant(tenant: string): void {
  if (!isId(tenant)) throw invalidId('tenant')
}
