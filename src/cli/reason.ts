import { StoreError } from '../store/store-error.ts'
import { causeOf } from './cause.ts'

/** Why a file or a store could not be used, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof StoreError)) return `${causeOf(error)}.`
  return error.detail === undefined ? error.message : `${error.message} (${error.detail})`
}
