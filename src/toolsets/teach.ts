import * as z from 'zod'
import { openTasks } from '../domain/conversation.ts'
import type { Refusal } from '../domain/errors.ts'
import { TOOLSETS } from '../domain/policy.ts'
import type { Task } from '../domain/task.ts'
import type { Tool, Toolset } from './toolset.ts'
import type { View } from './view.ts'

/** Arguments beyond this are not looked at: no plan needs them. */
const MOST_CHARACTERS = 256_000
/** So many open tasks are named to a model that asked for one which is not to be had. */
const MOST_NAMED = 20

/** The input as the tool takes it, or what is wrong with it: which element, and the right form in one line. */
export function parseInput(tool: Tool, input: unknown): { readonly value: never } | string {
  const size = sizeOf(input)
  if (size === undefined) return `The arguments must be JSON. Send ${tool.example}`
  if (size > MOST_CHARACTERS) return `The arguments must be at most ${MOST_CHARACTERS} characters. Send ${tool.example}`
  const parsed = tool.input.safeParse(input)
  if (parsed.success) return { value: parsed.data }
  const [issue] = parsed.error.issues
  return `${issue ? issueInWords(issue, input) : 'The arguments have another form.'} Send ${tool.example}`
}

/** A refusal by the rules, in the words that this model was given, with the right form where the form was at fault. */
export function teaching(refusal: Refusal, toolset: Toolset, tool: Tool, view: View): string {
  const said = inWordsOf(toolset, tool, refusal, view)
  return FORM_AT_FAULT.has(refusal.code) ? `${said} Send ${tool.example}` : said
}

const FORM_AT_FAULT: ReadonlySet<string> = new Set([
  'invalid_field',
  'batch_empty',
  'batch_too_large',
  'outcome_required',
  'two_in_progress',
])

/** The rules speak of numbers and of their own fields; a model knows its tools' ids and names. */
export function inWordsOf(toolset: Toolset, tool: Pick<Tool, 'at'>, refusal: Refusal, view: View): string {
  const { code, message, details } = refusal
  const field = details.field ?? ''
  switch (code) {
    case 'invalid_field': {
      const word = wordFor(toolset, field)
      // A parent is named once for the whole batch.
      const where = details.row === undefined || field === 'parent_id' ? word : (tool.at?.(details.row, word) ?? word)
      return message.replace(`Element ${details.row}: `, '').replace(field, where)
    }
    case 'task_not_found': {
      const what = field === '' ? '' : `${wordFor(toolset, field)}: `
      return toolset.unknown ?? `${what}There is no task with this id. ${openOnes(toolset, view)}`
    }
    case 'task_settled':
      return `${named(toolset, view, refusal)} ${openOnes(toolset, view)}`
    case 'edited_by_person':
      return edited(toolset, details.task as Task, details.changed ?? {})
    case 'two_in_progress':
      return message.replace('in progress', wordFor(toolset, 'in_progress').replace('_', ' '))
    case 'status_not_allowed':
    case 'outcome_required':
    case 'assessment_required':
      return named(toolset, view, refusal).replace(/[a-z_]+/g, word => wordFor(toolset, word))
    default:
      return message
  }
}

const wordFor = ({ words = {} }: Toolset, word: string): string =>
  Object.hasOwn(words, word) ? (words[word] ?? word) : word

/** The message with the id that the model knows in place of the number that the rules use. */
function named({ idOf }: Toolset, { state }: View, { message, about }: Refusal): string {
  const task = about && state.tasks.get(about.id)
  return task ? message.replace(`Task ${task.number} `, `Task ${idOf(task)} `) : message
}

function openOnes({ name, idOf }: Toolset, { state, turnId }: View): string {
  const open = openTasks(state, TOOLSETS[name].scope === 'turn' ? turnId : undefined)
  if (open.length === 0) return 'Nothing is open.'
  const shown = open.slice(0, MOST_NAMED).map(task => `${idOf(task)} (${task.title})`)
  const more = open.length > MOST_NAMED ? ` and ${open.length - MOST_NAMED} more` : ''
  return `Open: ${shown.join(', ')}${more}.`
}

/** The fields that a person can set; what else changed with them, the rules did. */
const SET_BY_PERSONS = ['title', 'details', 'criteria', 'priority', 'tags', 'status', 'outcome', 'position']

function edited(toolset: Toolset, task: Task, changed: Readonly<Record<string, unknown>>): string {
  const now = SET_BY_PERSONS.filter(field => Object.hasOwn(changed, field)).map(field => {
    const value = changed[field]
    const said = field === 'status' && typeof value === 'string' ? wordFor(toolset, value) : value
    return `${wordFor(toolset, field)} is now ${JSON.stringify(said)}`
  })
  return `A person changed task ${toolset.idOf(task)} since you last saw it: ${now.join(', ')}. It was left like this; go on from there.`
}

/** What a schema found wrong, in words: where, what it must be, and what it is. */
export function issueInWords(issue: z.core.$ZodIssue, input: unknown, whole = 'The arguments'): string {
  const where = issue.path.length === 0 ? whole : z.core.toDotPath(issue.path)
  const value = issue.path.reduce<unknown>(
    (within, key) => (within as Record<PropertyKey, unknown> | undefined)?.[key],
    input,
  )
  switch (issue.code) {
    case 'invalid_type':
      return `${where} must be ${KINDS[issue.expected] ?? issue.expected}, got ${kindOf(value)}.`
    case 'invalid_union':
      if (issue.discriminator !== undefined) return `${where} must be one of those that there are.`
      return `${where} must be a string or a number, got ${kindOf(value)}.`
    case 'invalid_value':
      return `${where} must be one of ${issue.values.join(', ')}.`
    case 'too_small':
      return `${where} must ${issue.origin === 'array' ? 'hold' : 'be'} at least ${issue.minimum}.`
    case 'too_big':
      return `${where} must ${issue.origin === 'array' ? 'hold' : 'be'} at most ${issue.maximum}.`
    case 'unrecognized_keys':
      return `${where} must not hold ${issue.keys
        .map(key => JSON.stringify(key.slice(0, 64).toWellFormed()))
        .slice(0, 5)
        .join(', ')}.`
    default:
      return `${where}: ${issue.message}.`
  }
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  // Of one kind only: no tool asks for fractions.
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  nonoptional: 'given',
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value)
  if (Array.isArray(value)) return 'an array'
  return KINDS[typeof value] ?? typeof value
}

function sizeOf(input: unknown): number | undefined {
  try {
    return JSON.stringify(input)?.length ?? 0
  } catch {
    // Circular, or otherwise not JSON: no transport could have brought it.
    return undefined
  }
}
