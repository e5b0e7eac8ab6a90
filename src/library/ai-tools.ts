import { jsonSchema, type ToolSet, tool } from 'ai'
import { confirmAsShown, isApproved } from './ai-approval.ts'
import type { Turn } from './turn.ts'

/**
 * A turn's tools for AI SDK's own loop (`generateText`, `streamText`, agents). AI SDK does not validate their input:
 * Runsheet answers invalid arguments with the correct form, which an SDK error would not do.
 */
export const aiSdkTools = (turn: Turn): ToolSet => toolsOf(turn)

/** Like `aiSdkTools`; with `approvals`, an approval in the messages confirms the plan it is about. */
export function toolsOf(turn: Turn, { approvals = false }: { readonly approvals?: boolean } = {}): ToolSet {
  return Object.fromEntries(
    turn.tools().map(({ name, description, parameters }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema(parameters),
        execute: async (input, { toolCallId, abortSignal, messages }) => {
          const asked = { id: toolCallId, name, input }
          if (approvals && isApproved(messages, asked)) await confirmAsShown(turn, asked)
          return turn.call(name, input, { id: toolCallId, ...(abortSignal ? { signal: abortSignal } : {}) })
        },
      }),
    ]),
  )
}
