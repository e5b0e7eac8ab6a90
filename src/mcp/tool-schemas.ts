import type { StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { plainJsonSchema } from '../toolsets/formats.ts'
import type { Tool } from '../toolsets/toolset.ts'

/** A schema that is shown to clients but not enforced: the toolset validates, and its refusals teach the model. */
export function displaySchema(schema: z.ZodType): DisplaySchema {
  let json: Record<string, unknown> | undefined
  const toJson = (): Record<string, unknown> => (json ??= { ...plainJsonSchema(schema) })
  return {
    '~standard': {
      version: 1,
      vendor: 'runsheet',
      validate: value => ({ value }),
      jsonSchema: { input: toJson, output: toJson },
    },
  }
}

type DisplaySchema = StandardSchemaWithJSON<unknown, unknown>

/** The fields that a review adds to an answer, or answers instead. */
const REVIEWED = {
  confirmed: z.boolean(),
  reason: z.string(),
  comment: z.string(),
  // In the toolset's own form.
  changes: z.unknown(),
  status: z.literal('pending_review'),
  review_id: z.string(),
}

// Made once per tool, not per connection: over HTTP every request may be a connection.
const inputs = new WeakMap<Tool, DisplaySchema>()
const outputs = new WeakMap<Tool, DisplaySchema>()

export const inputSchema = (tool: Tool): DisplaySchema => cached(inputs, tool, () => tool.input)

/** The schema of a tool's answer. Where a person may be asked, every field is optional: their decision says which are there. */
export const outputSchema = (tool: Tool): DisplaySchema =>
  cached(outputs, tool, ({ output, created }) =>
    created ? z.object({ ...output.shape, ...REVIEWED }).partial() : output,
  )

function cached(cache: WeakMap<Tool, DisplaySchema>, tool: Tool, schemaOf: (tool: Tool) => z.ZodType): DisplaySchema {
  const known = cache.get(tool)
  if (known) return known
  const schema = displaySchema(schemaOf(tool))
  cache.set(tool, schema)
  return schema
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
