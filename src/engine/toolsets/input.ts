import * as z from 'zod'
import { hasMark } from '../../core/proof/held-out.ts'
import { type FieldProblem, invalidField, Refusal } from '../../core/model/refusal.ts'
import { kind } from '../../core/model/text.ts'
import type { Tool } from './toolset.ts'

/** Longer arguments are refused without parsing: no plan needs them. */
const MAX_CHARACTERS = 256_000

const ARGUMENTS = 'The arguments'

export function parseInput(tool: Tool, input: unknown): { readonly value: never } | Refusal {
  const json = jsonOf(input)
  if (json === undefined) return invalidField(ARGUMENTS, { rule: 'invalid', expected: 'JSON' })
  if (json.length > MAX_CHARACTERS) return invalidField(ARGUMENTS, { rule: 'too_large', limit: MAX_CHARACTERS })
  if ((tool.checked || tool.isForExisting) && hasMark(json))
    return new Refusal('persons_only', { action: 'hide_check' })
  if (tool.isForExisting && hasCheck(input)) return new Refusal('persons_only', { action: 'change_checks' })
  // Keeps a check where none is offered, so that the answer can say that it was left out.
  const checked = tool.checked?.input.safeParse(input)
  const parsed = checked?.success ? checked : tool.input.safeParse(input)
  if (parsed.success) return { value: parsed.data as never }
  const [issue] = parsed.error.issues
  if (!issue) return invalidField(ARGUMENTS, { rule: 'invalid' })
  const problem = problemIn(issue, input)
  // No tool takes fractions.
  const exact = problem.rule === 'not_a_number' ? { ...problem, rule: 'not_an_integer' as const } : problem
  return invalidField(unknownKey(issue) ?? (z.core.toDotPath(issue.path) || ARGUMENTS), exact)
}

const hasCheck = (input: unknown): boolean => {
  const { check, checks } = Object(input) as { readonly check?: unknown; readonly checks?: unknown }
  return [check, checks].some(sent => sent !== undefined && sent !== null && sent !== '')
}

/** Converts a schema issue to a problem that `say` can word. */
export function problemIn(issue: z.core.$ZodIssue, input: unknown): FieldProblem {
  const value = issue.path.reduce<unknown>(
    (within, key) => (within as Record<PropertyKey, unknown> | undefined)?.[key],
    input,
  )
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'nonoptional') return { rule: 'required' }
      return { rule: RULES[issue.expected] ?? 'invalid', expected: issue.expected, got: describe(value) }
    case 'invalid_union':
      if ('options' in issue && Array.isArray(issue.options)) {
        return { rule: 'not_allowed', allowed: issue.options.map(String) }
      }
      return { rule: 'invalid', expected: 'a string or a number', got: describe(value) }
    case 'invalid_value':
      return { rule: 'not_allowed', allowed: issue.values.map(String) }
    case 'too_small':
      if (issue.origin === 'string') return { rule: 'empty' }
      if (issue.origin === 'array') return { rule: 'too_few', limit: Number(issue.minimum) }
      return { rule: 'invalid', expected: `at least ${issue.minimum}` }
    case 'too_big':
      if (issue.origin === 'string')
        return { rule: 'too_long', limit: Number(issue.maximum), got: String(value).length }
      if (issue.origin === 'array') return { rule: 'too_many', limit: Number(issue.maximum) }
      return { rule: 'invalid', expected: `at most ${issue.maximum}` }
    case 'unrecognized_keys':
      return { rule: 'unknown_key' }
    default:
      return { rule: 'invalid', expected: issue.message }
  }
}

/** The key that the schema does not know, truncated so that it is safe to repeat. */
export function unknownKey(issue: z.core.$ZodIssue): string | undefined {
  return issue.code === 'unrecognized_keys' ? issue.keys[0]?.slice(0, 64).toWellFormed() : undefined
}

const RULES: Readonly<Record<string, FieldProblem['rule']>> = {
  object: 'not_an_object',
  array: 'not_an_array',
  string: 'not_text',
  number: 'not_a_number',
  int: 'not_an_integer',
  boolean: 'not_a_boolean',
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : article(kind(value))
}

const article = (name: string): string =>
  name === 'null' || name.startsWith('an ') ? name : `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`

function jsonOf(input: unknown): string | undefined {
  try {
    return JSON.stringify(input) ?? ''
  } catch {
    // Not JSON, for example circular, so it did not come over a transport.
    return undefined
  }
}
