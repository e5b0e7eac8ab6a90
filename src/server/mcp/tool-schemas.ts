import type {
  CallToolResult,
  RegisteredTool,
  StandardSchemaWithJSON,
  Tool as ListedTool,
  ToolAnnotations,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Json } from '../../core/model/event.ts'
import { plainJsonSchema } from '../../engine/toolsets/guidance.ts'
import { AWAIT_REVIEW } from '../../engine/toolsets/observe.ts'
import type { JsonObject, Tool } from '../../engine/toolsets/toolset.ts'

/** A schema shown to clients but not enforced: the toolset validates, and its refusals teach the model. */
export type DisplaySchema = StandardSchemaWithJSON<unknown, unknown>

export function displaySchema(json: JsonObject): DisplaySchema {
  const schema = (): Record<string, unknown> => json
  return {
    '~standard': {
      version: 1,
      vendor: 'runsheet',
      validate: value => ({ value }),
      jsonSchema: { input: schema, output: schema },
    },
  }
}

export function listedTool(name: string, { inputSchema, outputSchema, ...tool }: RegisteredTool): ListedTool {
  const { title, description, annotations, _meta } = tool
  const input = { type: 'object' as const, ...inputSchema?.['~standard'].jsonSchema.input(TARGET) }
  const output = outputSchema && { outputSchema: outputSchema['~standard'].jsonSchema.output(TARGET) }
  return { name, title, description, inputSchema: input, annotations, _meta, ...output }
}

/** Our schemas look the same in every draft. */
const TARGET = { target: 'draft-2020-12' } as const

// Cached per tool, not per connection: over HTTP every request may be a connection.
const inputs = new WeakMap<Tool, DisplaySchema>()
const outputs = new WeakMap<Tool, DisplaySchema>()

export const inputSchema = (tool: Tool): DisplaySchema => cached(inputs, tool, () => plainJsonSchema(tool.input))

/** Only the top-level fields of an answer, because nested schemas would cost tokens in every conversation. */
export const outputSchema = (tool: Tool): DisplaySchema =>
  cached(outputs, tool, ({ output, created, reads }) =>
    fieldTypes({ ...output.shape, ...(created ? REVIEWED : {}), ...(reads || created ? {} : CHECKING) }),
  )

function cached(cache: WeakMap<Tool, DisplaySchema>, tool: Tool, jsonOf: (tool: Tool) => JsonObject): DisplaySchema {
  const known = cache.get(tool)
  if (known) return known
  const schema = displaySchema(jsonOf(tool))
  cache.set(tool, schema)
  return schema
}

/** Fields that a review adds to an answer, or that replace it. */
const REVIEWED = {
  confirmed: z.boolean(),
  reason: z.string(),
  comment: z.string(),
  // In the toolset's own form.
  changes: z.unknown(),
  status: z.string(),
  review_id: z.string(),
  url: z.string(),
  message: z.string(),
}

/** Fields that replace an answer while a call's claims are checked. */
const CHECKING = { status: z.string(), claim_id: z.string(), message: z.string() }

/**
 * An object schema with the type of each field. None is required, because a review's decision determines which are
 * present.
 */
function fieldTypes(shape: Readonly<Record<string, z.core.$ZodType>>): JsonObject {
  const properties = Object.entries(plainJsonSchema(z.object(shape))['properties'] ?? {})
  const typeOnly = properties.map(([name, { type }]: [string, JsonObject]) => [
    name,
    type === undefined ? {} : { type },
  ])
  return { type: 'object', properties: Object.fromEntries(typeOnly) }
}

/** Only what differs from the protocol's defaults: not read-only, destructive, not idempotent, open world. */
export function annotationsOf({ reads, removes, repeats }: Tool): ToolAnnotations {
  if (reads) return { readOnlyHint: true, openWorldHint: false }
  return {
    ...(removes ? {} : { destructiveHint: false }),
    ...(repeats ? { idempotentHint: true } : {}),
    openWorldHint: false,
  }
}

export function titleOf({ name }: Pick<Tool, 'name'>): string {
  const words = name.replaceAll(/([a-z])(?=[A-Z])|_/g, '$1 ').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Without this, Claude Code hides tools behind its tool search. */
export const ALWAYS_LOAD = { 'anthropic/alwaysLoad': true } as const

/** Sends an answer as text and as data, because hosts show the model only one of them. */
export function toolResult(answer: Json): CallToolResult {
  // Toolsets answer with objects; anything else is an error message.
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return errorResult(answer)
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } }
}

export function errorResult(answer: Json): CallToolResult {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  return { isError: true, content: [{ type: 'text', text }] }
}

/** The answer when a client cannot keep waiting for the checks of a claim or of a new plan. */
export function checkingResult(claim_id: string, isClaim: boolean): CallToolResult {
  const state = isClaim ? 'so nothing is settled yet' : 'and the work begins after them'
  const message = `Its checks are still running, ${state}. Call ${AWAIT_REVIEW} with this claim_id.`
  return toolResult({ status: 'checking', claim_id, message })
}

/** The answer when a client cannot keep waiting for a review: how to continue, and where the person decides. */
export function pendingResult(review_id: string, url: string | undefined, isDecided = false): CallToolResult {
  if (isDecided) {
    const message = `The user has decided, and the plan's checks run for the first time. Call ${AWAIT_REVIEW} with this review_id.`
    return toolResult({ status: 'pending_review', review_id, message })
  }
  const where = url === undefined ? '' : ` The user can decide at ${url} now.`
  const message = `Nothing is written yet.${where} Call ${AWAIT_REVIEW} with this review_id.`
  return toolResult({ status: 'pending_review', review_id, ...(url === undefined ? {} : { url }), message })
}
