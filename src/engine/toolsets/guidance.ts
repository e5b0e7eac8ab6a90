import * as z from 'zod'
import { invalidField } from '../../core/model/refusal.ts'
import type { JsonObject, NameOf, Tool, Toolset } from './toolset.ts'
import type { View } from './view.ts'

/** Characters that providers accept in a tool name, with room for our longest within their limit of 64. */
export const PREFIX = /^[A-Za-z0-9_-]{0,32}$/

interface PromptOptions {
  /** Tools that the model gets. Default: all of the toolset. */
  readonly allowed?: readonly string[]
  readonly isRun?: boolean
}

/** The toolset's section for the system prompt; empty if its planning tool is not allowed. */
export function promptFor(toolset: Toolset, { allowed, isRun = false }: PromptOptions = {}): string {
  const canPlan = toolset.tools.some(({ name, created }) => created && (allowed?.includes(name) ?? true))
  if (!canPlan) return ''
  const prompt = isRun ? toolset.prompt : (toolset.outsidePrompt ?? toolset.prompt)
  return toolset.hasChecks ? `${prompt(namesOf(toolset))}\n${CHECKS}` : prompt(namesOf(toolset))
}

const CHECKS = `Give a task a check where a command can show that it is done: one that fails now and passes then, such as a test; no shell, no pipes.
The user approves it. It is run when you settle the task, and while it fails the task stays open.`

/** Guidance for a model that called the planning tool in the wrong form. */
export const retryFor = (toolset: Toolset, view: View): string => toolset.retry(view, namesOf(toolset))

/** How to settle a task, and what to do with an impossible one. */
export const settlingFor = (toolset: Toolset): string => toolset.settling(namesOf(toolset))

/** The same toolset with a prefix on every tool name that a model reads. Throws a refusal if the prefix is invalid. */
export function withPrefix(toolset: Toolset, prefix: string): Toolset {
  if (!PREFIX.test(prefix)) {
    throw invalidField('prefix', { rule: 'invalid', expected: 'at most 32 characters of A-Z a-z 0-9 _ -' })
  }
  return prefix === '' ? toolset : { ...toolset, prefix }
}

export const toolNamed = (toolset: Toolset, name: string): Tool | undefined =>
  toolset.tools.find(tool => namesOf(toolset)(tool.name) === name)

export const namesOf =
  ({ prefix = '' }: Toolset): NameOf =>
  tool =>
    `${prefix}${tool}`

export const available = (toolset: Toolset): string =>
  toolset.tools.map(({ name }) => namesOf(toolset)(name)).join(', ')

/** A definition in the OpenAI function format, which most providers accept. */
export interface FunctionDefinition {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject }
}

export const openAiTools = (toolset: Toolset): FunctionDefinition[] =>
  toolset.tools.map(tool => ({
    type: 'function',
    function: { name: namesOf(toolset)(tool.name), description: tool.description, parameters: jsonSchemaOf(tool) },
  }))

export const jsonSchemaOf = (tool: Tool): JsonObject => plainJsonSchema(tool.input)

export function plainJsonSchema(schema: z.ZodType): JsonObject {
  const { $schema: _schema, ...rest } = z.toJSONSchema(schema, { io: 'input', override: withoutSafeIntegerBounds })
  return rest as JsonObject
}

/** Safe-integer bounds would cost forty tokens per integer and tell the model nothing. */
function withoutSafeIntegerBounds({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}
