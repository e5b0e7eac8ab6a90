import type { StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { plainJsonSchema } from '../toolsets/formats.ts'
import type { Tool } from '../toolsets/toolset.ts'

/**
 * A schema that is shown and not enforced: what a model sends is checked by the toolset, whose refusals teach, and what
 * we answer is ours.
 */
export function advertised(schema: z.ZodType): StandardSchemaWithJSON<unknown, unknown> {
  const shown = (): Record<string, unknown> => ({ ...plainJsonSchema(schema) })
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

/** The form of a tool's answer. Where a person may be asked, which of the fields are there tells how that ended. */
export function outputOf(tool: Tool | undefined): z.ZodObject {
  const output = tool?.output ?? z.object({})
  return tool?.created ? z.object({ ...output.shape, ...REVIEWED }).partial() : output
}

export function annotationsOf({ reads, removes, repeats }: Tool): ToolAnnotations {
  return {
    readOnlyHint: reads ?? false,
    destructiveHint: removes ?? false,
    idempotentHint: reads ?? repeats ?? false,
    openWorldHint: false,
  }
}
