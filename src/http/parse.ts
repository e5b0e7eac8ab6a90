import type * as z from 'zod'
import { invalidId, Refusal } from '../domain/refusal.ts'
import { issueInWords } from '../toolsets/teach.ts'
import { HttpError } from './errors.ts'
import { INVALID_ID } from './schemas.ts'

/** What a path or query says, as the schema has it. */
export function parseUrl<T>(schema: z.ZodType<T> | undefined, raw: unknown): T {
  const { issue, value } = attempt(schema, raw)
  if (!issue) return value as T
  if (issue.message === INVALID_ID) throw invalidId(fieldOf(issue))
  throw new HttpError(400, 'invalid_request', issueInWords(issue, raw, 'The query'), { field: fieldOf(issue) })
}

/** A page of a list; a cursor that no page gave out is a query that does not fit. */
export async function pageOf<T>(page: Promise<T>): Promise<T> {
  try {
    return await page
  } catch (error) {
    if (!(error instanceof Refusal) || error.details.field !== 'cursor') throw error
    throw new HttpError(400, 'invalid_request', error.message, { field: 'cursor' })
  }
}

/** What a body says; where it does not fit, the element of its list and the field are named. */
export function parseBody<T>(schema: z.ZodType<T> | undefined, raw: unknown): T {
  const { issue, value } = attempt(schema, raw)
  if (!issue) return value as T
  if (issue.message === INVALID_ID) throw invalidId(fieldOf(issue))
  const row = issue.path.find(step => typeof step === 'number')
  const field = fieldOf(issue)
  throw new Refusal('invalid_field', issueInWords(issue, raw, 'The body'), {
    ...(row === undefined ? {} : { row }),
    field,
  })
}

function attempt<T>(schema: z.ZodType<T> | undefined, raw: unknown): { issue?: z.core.$ZodIssue; value?: T } {
  if (!schema) return {}
  const parsed = schema.safeParse(raw)
  if (parsed.success) return { value: parsed.data }
  const [issue] = parsed.error.issues
  return issue ? { issue } : {}
}

/** The name of what is wrong: the last name on the way to it, or the key that should not be there. */
function fieldOf(issue: z.core.$ZodIssue): string {
  const named = issue.path.findLast(step => typeof step === 'string')
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  return (unknown ?? (typeof named === 'string' ? named : 'body')).slice(0, 64).toWellFormed()
}
