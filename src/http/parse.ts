import * as z from 'zod'
import { invalidField, invalidId, Refusal } from '../domain/refusal.ts'
import { problemIn, unknownKey } from '../toolsets/input.ts'
import { HttpError } from './http-error.ts'
import { INVALID_ID } from './schemas.ts'

export function parseUrl<T>(schema: z.ZodType<T> | undefined, raw: unknown): T {
  const { issue, value } = attempt(schema, raw)
  if (!issue) return value as T
  if (issue.message === INVALID_ID) throw invalidId(fieldOf(issue))
  throw asQuery(invalidField(fieldOf(issue), problemIn(issue, raw)))
}

/** Turns an invalid cursor into a bad request. */
export async function pageOf<T>(page: Promise<T>): Promise<T> {
  try {
    return await page
  } catch (error) {
    if (!(error instanceof Refusal && error.is('invalid_field') && error.data.field === 'cursor')) throw error
    throw asQuery(error)
  }
}

export function parseBody<T>(schema: z.ZodType<T> | undefined, raw: unknown): T {
  const { issue, value } = attempt(schema, raw)
  if (!issue) return value as T
  if (issue.message === INVALID_ID) throw invalidId(fieldOf(issue))
  throw invalidField(fieldOf(issue), problemIn(issue, raw), hasRows(issue) ? Number(issue.path[1]) : undefined)
}

/** A fault in the URL is 400, not 422. */
const asQuery = ({ message, data }: Refusal): HttpError => new HttpError(400, 'invalid_request', message, { ...data })

function attempt<T>(schema: z.ZodType<T> | undefined, raw: unknown): { issue?: z.core.$ZodIssue; value?: T } {
  if (!schema) return {}
  const parsed = schema.safeParse(raw)
  if (parsed.success) return { value: parsed.data }
  const [issue] = parsed.error.issues
  return issue ? { issue } : {}
}

const ROWS: ReadonlySet<unknown> = new Set(['tasks', 'calls'])

const hasRows = ({ path: [list, row] }: z.core.$ZodIssue): boolean => ROWS.has(list) && typeof row === 'number'

function fieldOf(issue: z.core.$ZodIssue): string {
  const own = hasRows(issue) && issue.path.length > 2 ? issue.path.slice(2) : issue.path
  const named = own.slice(0, own.findLastIndex(step => typeof step === 'string') + 1)
  return unknownKey(issue) ?? (named.length > 0 ? z.core.toDotPath(named).slice(0, 64).toWellFormed() : 'body')
}
