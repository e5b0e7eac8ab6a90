import type { StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { plainJsonSchema } from '../toolsets/formats.ts'
import type { Tool } from '../toolsets/toolset.ts'

/**
 * A schema that is shown and not enforced: what a model sends is checked by the toolset, whose refusals teach, and what
 * we answer is ours.
 */
export function advertised(schema: z.ZodType): Shown {
  let json: Record<string, unknown> | undefined
  const shown = (): Record<string, unknown> => (json ??= { ...plainJsonSchema(schema) })
  return {
    '~standard': {
      version: 1,
      vendor: 'runsheet',
      validate: value => ({ value }),
      jsonSchema: { input: shown, output: shown },
    },
  }
}

/** What may come instead where a person is asked, and what comes along. */
const REVIEWED = {
  confirmed: z.boolean(),
  cancelled: z.boolean(),
  reason: z.string(),
  comment: z.string(),
  // In the words of the toolset.
  changes: z.union([z.string(), z.looseObject({})]),
  status: z.literal('pending_review'),
  review_id: z.string(),
}

type Shown = StandardSchemaWithJSON<unknown, unknown>

/** Made once for each tool, not for each connection: over HTTP every request may be one. */
const inputs = new WeakMap<Tool, Shown>()
const outputs = new WeakMap<Tool, Shown>()

export const inputSchema = (tool: Tool): Shown => inputs.get(tool) ?? kept(inputs, tool, advertised(tool.input))

/** The form of a tool's answer. Where a person may be asked, which of the fields are there tells how that ended. */
export function outputSchema(tool: Tool): Shown {
  const { output, created } = tool
  return (
    outputs.get(tool) ??
    kept(outputs, tool, advertised(created ? z.object({ ...output.shape, ...REVIEWED }).partial() : output))
  )
}

function kept(all: WeakMap<Tool, Shown>, tool: Tool, schema: Shown): Shown {
  all.set(tool, schema)
  return schema
}

export function annotationsOf({ reads, removes, repeats }: Tool): ToolAnnotations {
  return {
    readOnlyHint: reads ?? false,
    destructiveHint: removes ?? false,
    idempotentHint: reads ?? repeats ?? false,
    openWorldHint: false,
  }
}
