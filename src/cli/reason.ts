import { StoreError } from '../store/store-error.ts'
import { causeOf } from './cause.ts'

/** The reason as the end of a sentence. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof StoreError)) return `${causeOf(error)}.`
  return error.detail === undefined ? error.message : `${error.message} (${error.detail})`
}
