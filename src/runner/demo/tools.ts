import { clip } from '../../domain/text.ts'
import { toolNames } from '../../toolsets/index.ts'
import { isCompound } from './lexicon.ts'
import { SANDBOX } from './sandbox.ts'

export interface Offered {
  readonly name: string
  readonly description: string
  readonly schema: Schema
}
export interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>
  readonly required?: readonly string[]
}

/** An outside tool that does what the step says and whose arguments the step can fill. A compound step fits none. */
export function toolFor(tools: readonly Offered[], title: string): Offered | undefined {
  if (isCompound(title)) return undefined
  const words = new Set(wordsIn(title))
  return tools.find(({ name, description, schema }) => {
    // The demo model handles these itself.
    if (name === SANDBOX.read || name === SANDBOX.edit) return false
    if (toolNames.has(name) || !canFill(schema, title) || !isDeed(title, `${name} ${description}`)) return false
    const own = wordsIn(name.split('__').at(-1) ?? '')
    return own.some(word => words.has(word)) || wordsIn(description).filter(word => words.has(word)).length >= 2
  })
}

/**
 * Whether the step's verb is the tool's: a tool that gets an invoice does not pay it. Asking and using fit any tool.
 */
function isDeed(title: string, tool: string): boolean {
  const [verb = ''] = title.toLowerCase().match(/\p{L}+/u) ?? []
  return (
    ASKING.test(verb) ||
    /^\p{Script=Han}/u.test(verb) ||
    wordsIn(tool.replaceAll('_', ' ')).some(word => word.startsWith(verb))
  )
}

const ASKING = /^(?:use|call|run|ask|look|find|get|fetch|check|show|tell|what|which|how|who|when|where|is)$/

/** Fills numbers in order, and strings with the quoted part or the whole title. */
export function filled({ required = [], properties = {} }: Schema, title: string): Record<string, unknown> {
  const numbers = numbersIn(title)
  const [, quoted = title] = /["“'‘](.+)["”'’]/.exec(title) ?? []
  const value = (type: string | undefined): unknown =>
    type === 'boolean' ? true : isNumber(type) ? numbers.shift() : quoted
  return Object.fromEntries(required.map(name => [name, value(properties[name]?.type)]))
}

function canFill({ required = [], properties = {} }: Schema, title: string): boolean {
  const types = required.map(name => properties[name]?.type)
  if (types.some(type => !isNumber(type) && type !== 'string' && type !== 'boolean')) return false
  return types.filter(isNumber).length <= numbersIn(title).length
}

const numbersIn = (title: string): number[] => (title.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number)
const isNumber = (type: string | undefined): boolean => type === 'number' || type === 'integer'

export const wordsIn = (text: string): string[] =>
  [...new Set(text.toLowerCase().match(/\p{L}{3,}/gu) ?? [])].filter(word => !COMMON.has(word))
const COMMON = new Set(
  'the and for with that this then from into use using tool tools get set its you your are was not all any can has have'.split(
    ' ',
  ),
)

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** Limits what the demo model reads, because some of its regular expressions are quadratic. */
export const readable = (text: string): string => clip(text, 4_000)
