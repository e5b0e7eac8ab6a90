import { RunsheetError } from '../client/runsheet-error.ts'
import type { Words } from './words.ts'

/** What to tell a person about an error: in their own words where there are any, else in the server's. */
export function explained({ errors, fieldErrors }: Words, error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!(error instanceof RunsheetError)) return error.message
  const { code, details, message } = error
  const field = code === 'invalid_field' ? fieldErrors[details.field ?? ''] : undefined
  return field ?? errors[code] ?? message.replace(/^Element \d+: (.)/, (_, first: string) => first.toUpperCase())
}
