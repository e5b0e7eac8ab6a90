import * as z from 'zod'
import type { Json } from '../../domain/event.ts'
import { TOOLSETS } from '../../domain/policy.ts'
import type { ToolAnswer, ToolsetAnswer, ToolsetSummary } from '../../domain/wire.ts'
import { StoreError } from '../../door/door.ts'
import type { ToolContext } from '../../toolsets/context.ts'
import { openAiTools } from '../../toolsets/formats.ts'
import { toolsets } from '../../toolsets/index.ts'
import { awaitCall, beginCall, type CallState } from '../../toolsets/calls.ts'
import type { Toolset } from '../../toolsets/toolset.ts'
import * as a from '../answer-schemas.ts'
import { HttpError, notFound } from '../errors.ts'
import { type Desk, route } from '../route.ts'
import * as s from '../schemas.ts'

export const toolsetRoutes = [
  route({
    method: 'get',
    path: '/api/toolsets',
    operationId: 'listToolsets',
    tag: 'Toolsets',
    role: 'agent',
    summary: 'The vocabularies that a model may be given',
    answers: { 200: { description: 'All of them', schema: a.toolsets } },
    handle: async () => ({ body: { toolsets: Object.values(toolsets).map(summaryOf) } }),
  }),
  route({
    method: 'get',
    path: '/api/toolsets/:name',
    operationId: 'getToolset',
    tag: 'Toolsets',
    role: 'agent',
    summary: 'Definitions in the OpenAI function format, and the section for the system prompt',
    params: z.object({ name: z.string() }),
    answers: {
      200: {
        description: 'The toolset',
        schema: a.toolset,
      },
    },
    handle: async ({ params }) => {
      const { name, prompt, ...toolset } = named(params.name)
      const tools = openAiTools({ name, prompt, ...toolset }) as unknown as Json[]
      return { body: { name, tools, prompt } satisfies ToolsetAnswer }
    },
  }),
  route({
    method: 'post',
    path: '/api/toolsets/:name/tools/:tool',
    operationId: 'callTool',
    tag: 'Toolsets',
    role: 'agent',
    summary: 'Calls a tool for an agent that lives elsewhere',
    params: z.object({ name: z.string(), tool: z.string() }),
    body: z.strictObject({
      session_id: s.id,
      turn_id: s.id,
      tool_call_id: s.reference.optional().meta({ description: 'makes a repetition harmless' }),
      arguments: z.unknown().meta({ description: "what the model sent, as the tool's schema has it" }),
      source_user_message_id: s.reference.optional(),
      source_assistant_message_id: s.reference.optional(),
    }),
    answers: {
      200: { description: 'What the model is told', schema: a.answeredCall },
      202: {
        description: 'A person is being asked: call again to wait on',
        schema: a.pendingCall,
      },
      409: { description: '`tool_call_conflict`, `turn_running`, `turn_finished`', schema: s.errorBody },
    },
    handle: async ({ params, body, who, context: c }, desk) => {
      const toolset = named(params.name)
      if (!toolset.tools.some(({ name }) => name === params.tool)) {
        const there = toolset.tools.map(({ name }) => name).join(', ')
        throw notFound('tool_not_found', `There is no such tool in ${toolset.name}. There are: ${there}.`)
      }
      const { session_id, turn_id, tool_call_id, arguments: input, ...sources } = body
      const { door, host } = desk
      const context = {
        door,
        host,
        tenant: who.tenant,
        conversation: session_id,
        turn: turn_id,
        toolCallId: tool_call_id,
        ...sources,
      }
      const answer = await called(toolset, params.tool, input, context, desk, c.env.outgoing)
      return { status: 'status' in answer ? 202 : 200, body: answer }
    },
  }),
  route({
    method: 'get',
    path: '/api/models',
    operationId: 'listModels',
    tag: 'Toolsets',
    role: 'agent',
    summary: 'The models that are configured',
    answers: {
      200: {
        description: 'By name',
        schema: a.models,
      },
    },
    handle: async (_, { models }) => ({ body: { models } }),
  }),
]

/** The call's answer, or after a while that a person is still being asked. */
async function called(
  toolset: Toolset,
  tool: string,
  input: unknown,
  context: ToolContext,
  { reviewWaitMs, closing }: Desk,
  connection: { readonly destroyed: boolean; once(event: 'close', listener: () => void): unknown },
): Promise<ToolAnswer> {
  const call = await beginCall(toolset, tool, input, context).catch((error: unknown): CallState => {
    if (!(error instanceof StoreError)) throw error
    // It stays broken until a person repairs the file, so the model has to know.
    if (error.code === 'file_invalid') {
      return { status: 'answered', result: `Error: ${error.message}`, ok: false, stored: false }
    }
    if (error.code !== 'key_conflict') throw error
    throw new HttpError(409, 'tool_call_conflict', 'This tool call id was already used with other arguments.')
  })
  if (call.status === 'answered') return { result: call.result }
  if (call.status === 'claimed') throw new TypeError('there is no assessor outside of a run')
  const { call_id, review_id } = call
  const enough = new AbortController()
  const stop = (): void => enough.abort()
  const timer = setTimeout(stop, reviewWaitMs)
  connection.once('close', stop)
  closing.addEventListener('abort', stop)
  // Either may have come while the call was being taken.
  if (closing.aborted || connection.destroyed) stop()
  try {
    return { result: await awaitCall(call_id, context, enough.signal) }
  } catch (error) {
    if (!enough.signal.aborted) throw error
    return { status: 'pending_review', review_id }
  } finally {
    clearTimeout(timer)
    closing.removeEventListener('abort', stop)
  }
}

function named(name: string): Toolset {
  const toolset = Object.hasOwn(toolsets, name) ? toolsets[name as keyof typeof toolsets] : undefined
  if (toolset) return toolset
  throw notFound('toolset_not_found', `There is no such toolset. There are: ${Object.keys(toolsets).join(', ')}.`)
}

function summaryOf({ name, tools }: Toolset): ToolsetSummary {
  const { review, assessor, gate, scope } = TOOLSETS[name]
  return { name, review, assessor, gate, scope, tools: tools.map(each => each.name) }
}
