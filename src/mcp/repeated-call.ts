import { Refusal } from '../domain/refusal.ts'
import type { ToolContext } from '../toolsets/context.ts'
import { callHash, reviewOfEqualCall } from '../toolsets/equal-call.ts'
import { parseInput } from '../toolsets/input.ts'
import type { Tool } from '../toolsets/toolset.ts'

/**
 * The review of an equal call of this turn that still waits, or whose answer nobody got. A model that calls again does so
 * under a new id of its host's, so the id alone would ask the person twice.
 */
export async function repeatedReview(tool: Tool, input: unknown, context: ToolContext): Promise<string | undefined> {
  if (!tool.created) return undefined
  const parsed = parseInput(tool, input)
  if (parsed instanceof Refusal) return undefined
  return (await reviewOfEqualCall(context, callHash(tool.name, parsed.value)))?.review_id
}
