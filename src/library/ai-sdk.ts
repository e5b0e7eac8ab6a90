import { jsonSchema, type ToolSet, tool } from 'ai'
import type { Turn } from './turn.ts'

/**
 * A turn's tools for AI SDK's own loop (`generateText`, `streamText`, agents). Their input is not validated on the way:
 * Runsheet answers a wrong form with the right one, which an error of the SDK would not.
 */
export function aiSdkTools(turn: Turn): ToolSet {
  return Object.fromEntries(
    turn.tools().map(({ name, description, parameters }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema(parameters),
        execute: (input, { toolCallId, abortSignal }) =>
          turn.call(name, input, { id: toolCallId, ...(abortSignal ? { signal: abortSignal } : {}) }),
      }),
    ]),
  )
}
