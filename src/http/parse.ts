import type * as z from 'zod'
import { invalidField, invalidId, Refusal } from '../domain/refusal.ts'
import { problemIn, unknownKey } from '../toolsets/input.ts'
import { HttpError } from './http-error.ts'
import { INVALID_ID } from './schemas.ts'

/** Parses a path or query. */
export function parseUrl<T>(schema: z.ZodType<T> | undefined, raw: unknown): T {
  const { issue, value } = attempt(schema, raw)
  if (!issue) return value as T
  if (issue.message === INVALID_ID) throw invalidId(fieldOf(issue))
  throw asQuery(invalidField(fieldOf(issue), problemIn(issue, raw)))
}

/** Reads a page of a list; an invalid cursor is a bad request. */
export async function pageOf<T>(page: Promise<T>): Promise<T> {
  try {
    return await page
  } catch (error) {
    if (!(error instanceof Refusal && error.is('invalid_field') && error.data.field === 'cursor')) throw error
    throw asQuery(error)
  }
}

/** Parses a body; a refusal names the row and the field at fault. */
export function parseBody<T>(schema: z.ZodType<T> | undefined, raw: unknown): T {
  const { issue, value } = attempt(schema, raw)
  if (!issue) return value as T
  if (issue.message === INVALID_ID) throw invalidId(fieldOf(issue))
  const row = issue.path.find(step => typeof step === 'number')
  const field = fieldOf(issue)
  throw invalidField(field, problemIn(issue, raw), row)
}

/** The same fault in a URL is a bad request, not an unprocessable body. */
const asQuery = ({ message, data }: Refusal): HttpError => new HttpError(400, 'invalid_request', message, { ...data })

function attempt<T>(schema: z.ZodType<T> | undefined, raw: unknown): { issue?: z.core.$ZodIssue; value?: T } {
  if (!schema) return {}
  const parsed = schema.safeParse(raw)
  if (parsed.success) return { value: parsed.data }
  const [issue] = parsed.error.issues
  return issue ? { issue } : {}
}

/** The name of the field at fault: the last name on its path, or the unknown key. */
function fieldOf(issue: z.core.$ZodIssue): string {
  const named = issue.path.findLast(step => typeof step === 'string')
  return unknownKey(issue) ?? (typeof named === 'string' ? named.slice(0, 64).toWellFormed() : 'body')
}
