import * as z from 'zod'
import { namesOf } from './guidance.ts'
import type { JsonObject, Tool, Toolset } from './toolset.ts'

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
