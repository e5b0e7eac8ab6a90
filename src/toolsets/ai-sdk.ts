import { jsonSchema, type ToolSet, tool } from 'ai'
import type { Toolset as ToolsetName } from '../domain/policy.ts'
import type { ToolContext } from './context.ts'
import { jsonSchemaOf } from './formats.ts'
import { promptFor } from './guidance.ts'
import { toolsets } from './index.ts'
import { callTool } from './calls.ts'

/** What a host says once; each call brings its own id. */
export type AiSdkOptions = Omit<ToolContext, 'toolCallId'> & { readonly toolset?: ToolsetName }

/**
 * A toolset as tools for AI SDK's own loop (`generateText`, `streamText`, agents). The input is not checked on the way:
 * a wrong one gets an answer that teaches the right form, which an error of the SDK would not.
 */
export function aiSdkTools({ toolset = 'runsheet', ...context }: AiSdkOptions): ToolSet {
  const chosen = toolsets[toolset]
  return Object.fromEntries(
    chosen.tools.map(each => [
      each.name,
      tool({
        description: each.description,
        inputSchema: jsonSchema(jsonSchemaOf(each)),
        execute: (input, { toolCallId, abortSignal }) =>
          callTool(chosen, each.name, input, { ...context, toolCallId }, abortSignal),
      }),
    ]),
  )
}

/** The words for the system prompt that go with the tools, where those to plan with are allowed. */
export const aiSdkPrompt = (toolset: ToolsetName = 'runsheet', allowed?: readonly string[]): string =>
  promptFor(toolsets[toolset], allowed)
