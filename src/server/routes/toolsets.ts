import * as z from 'zod'
import { TOOLSETS, policyWith, type PolicyPatch } from '../../core/model/policy.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { RetryAnswer, ToolAnswer, ToolsetAnswer, ToolsetSummary, ToolsetsAnswer } from '../../core/views/wire.ts'
import { StoreError, type Door } from '../../engine/door/door.ts'
import type { ToolContext } from '../../engine/toolsets/view.ts'
import {
  PREFIX,
  available,
  openAiTools,
  promptFor,
  retryFor,
  toolNamed,
  withPrefix,
} from '../../engine/toolsets/guidance.ts'
import { toolsets } from '../../engine/toolsets/index.ts'
import { awaitCall, beginCall } from '../../engine/toolsets/calls.ts'
import { awaitClaims, claimIdOf } from '../../engine/toolsets/waiting.ts'
import { countItems, observe } from '../../engine/toolsets/observe.ts'
import { withChecks, type Toolset } from '../../engine/toolsets/toolset.ts'
import { HttpError, notFound } from '../http/replies.ts'
import { route, routes, type Answer, type Deps } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/openapi.ts'

/** Retry-After for a call that could not be held. */

const CALL_PATH = '/api/toolsets/:name/tools/:tool'

const prefix = z
  .string()
  .regex(PREFIX, { error: 'at most 32 characters of A-Z a-z 0-9 _ -' })
  .optional()
  .meta({ description: 'put before each tool name, for tools that sit beside others' })

export const toolsetRoutes = routes('Toolsets', {
  listToolsets: route('get', '/api/toolsets', 'agent', {
    summary: 'The toolsets that a model can be given, with the policy of a new conversation that uses it',
    answers: { 200: { description: 'All toolsets', schema: shape('ToolsetsAnswer') } },
    handle: async (_, { host }) => {
      const listed = Object.values(toolsets).flatMap(each => summaryOf(each, host))
      return { body: { default: host.toolset ?? 'runsheet', toolsets: listed } satisfies ToolsetsAnswer }
    },
  }),
  getToolset: route('get', '/api/toolsets/:name', 'agent', {
    summary: 'The tool definitions in the OpenAI function format, and a section for the system prompt',
    params: z.object({ name: z.string() }),
    query: z.object({ prefix }),
    answers: {
      200: {
        description: 'The toolset',
        schema: shape('ToolsetAnswer'),
      },
    },
    handle: async ({ params, query }, { door }) => {
      const toolset = named(params.name, query.prefix, door)
      const tools = openAiTools(toolset).map(({ type, function: definition }) => ({
        type,
        function: { ...definition },
      }))
      return { body: { name: toolset.name, tools, prompt: promptFor(toolset) } satisfies ToolsetAnswer }
    },
  }),
  getRetryGuidance: route('get', '/api/toolsets/:name/retry', 'agent', {
    summary: 'Guidance for a model that called the planning tool in the wrong form, for its next prompt',
    params: z.object({ name: z.string() }),
    query: z.object({ session_id: s.id, turn_id: s.id, prefix }),
    answers: { 200: { description: 'The right form, and what exists already', schema: shape('RetryAnswer') } },
    handle: async ({ params, query, caller }, { door }) => {
      const toolset = named(params.name, query.prefix, door)
      // Not 404 without a conversation: a refused first call has written nothing.
      const state = await door.read({ tenant: caller.tenant, conversation: query.session_id })
      const guidance = retryFor(toolset, { state, turnId: query.turn_id })
      return { body: { guidance } satisfies RetryAnswer }
    },
  }),
  callTool: route('post', CALL_PATH, 'agent', {
    summary: 'Calls a tool for an external agent',
    params: z.object({ name: z.string(), tool: z.string() }),
    query: z.object({ prefix }),
    body: z.strictObject({
      session_id: s.id,
      turn_id: s.id,
      tool_call_id: s.reference.optional().meta({ description: 'makes the call idempotent' }),
      arguments: z.unknown().meta({ description: "what the model sent, in the form of the tool's schema" }),
      source_user_message_id: s.reference.optional(),
      source_assistant_message_id: s.reference.optional(),
      provider: s.reference.optional().meta({ description: 'the provider of the model that calls, for the log' }),
      model: s.reference.optional().meta({ description: 'the model that calls, for the log' }),
    }),
    answers: {
      200: { description: 'The answer for the model', schema: shape('AnsweredCall') },
      202: {
        description:
          'A person or a check is awaited: repeat the call to keep waiting, with the `tool_call_id` of this answer if it has one, and after `Retry-After` if it is there',
        schema: shape('WaitingCall'),
      },
      409: { description: '`tool_call_conflict`, `turn_running`, `turn_finished`' },
    },
    handle: async ({ params, query, body, caller, signal }, deps) => {
      const toolset = named(params.name, query.prefix, deps.door)
      const { session_id, turn_id, tool_call_id, arguments: input, ...sources } = body
      const { door, host } = deps
      const context = {
        door,
        edge: 'http',
        host,
        tenant: caller.tenant,
        conversation: session_id,
        turn: turn_id,
        toolCallId: tool_call_id,
        ...sources,
      } satisfies ToolContext
      if (!toolNamed(toolset, params.tool)) {
        const call = { callId: tool_call_id, toolset: toolset.name, tool: 'unknown', items: countItems(input) }
        observe(context, { ...call, started: performance.now(), outcome: 'refused', stored: false })
        throw notFound('tool_not_found', `There is no such tool in ${toolset.name}. Available: ${available(toolset)}.`)
      }
      return answerCall({ toolset, tool: params.tool, input, context, signal }, deps)
    },
  }),
  listModels: route('get', '/api/models', 'agent', {
    summary: 'The configured models',
    answers: {
      200: {
        description: 'All models',
        schema: shape('ModelsAnswer'),
      },
    },
    handle: async (_, { models }) => ({ body: { models } }),
  }),
})

interface Asked {
  readonly toolset: Toolset
  readonly tool: string
  readonly input: unknown
  readonly context: ToolContext
  readonly signal: AbortSignal
}

/** Only a person can repair a broken task file, so the model is told. */
async function answerCall(asked: Asked, deps: Deps): Promise<Answer> {
  try {
    return await waitedFor(asked, deps)
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'file_invalid') throw error
    return { status: 200, body: { result: `Error: ${error.message}` } satisfies ToolAnswer }
  }
}

/** Answers `pending_review` or `checking` after `reviewWaitMs`, or once the server closes. */
async function waitedFor(
  { toolset, tool, input, context, signal }: Asked,
  { reviewWaitMs, closing }: Deps,
): Promise<Answer> {
  const call = await beginCall(toolset, tool, input, context).catch((error: unknown): never => {
    if (!(error instanceof StoreError) || error.code !== 'key_conflict') throw error
    throw new HttpError(409, 'tool_call_conflict', 'This tool_call_id was already used with other arguments.')
  })
  if (call.status === 'answered') return { status: 200, body: { result: call.result } satisfies ToolAnswer }
  // A caller without an id needs ours to ask again.
  const ownId = context.toolCallId === undefined ? { tool_call_id: call.call_id } : {}
  const waiting =
    call.status === 'checking'
      ? ({ status: 'checking', claim_id: claimIdOf(call), ...ownId } as const)
      : ({ status: 'pending_review', review_id: call.review_id } as const)
  const giveUp = new AbortController()
  const stop = (): void => giveUp.abort()
  const timer = setTimeout(stop, reviewWaitMs)
  const ends = [signal, closing]
  for (const each of ends) each.addEventListener('abort', stop)
  // The server may have begun to close while the call was stored.
  if (closing.aborted) stop()
  try {
    const result =
      call.status === 'checking'
        ? (await awaitClaims(call, context, giveUp.signal)).result
        : await awaitCall(call.call_id, context, giveUp.signal)
    return { status: 200, body: { result } satisfies ToolAnswer }
  } catch (error) {
    if (!giveUp.signal.aborted) throw error
    return { status: 202, body: waiting satisfies ToolAnswer }
  } finally {
    clearTimeout(timer)
    for (const each of ends) each.removeEventListener('abort', stop)
  }
}

function named(name: string, prefix: string | undefined, { checks }: Door): Toolset {
  const toolset = Object.hasOwn(toolsets, name) ? toolsets[name as keyof typeof toolsets] : undefined
  if (toolset) return withPrefix(checks.offered?.() ? withChecks(toolset) : toolset, prefix ?? '')
  throw notFound('toolset_not_found', `There is no such toolset. Available: ${Object.keys(toolsets).join(', ')}.`)
}

/** Omits toolsets that the host's policy rules out. */
function summaryOf({ name, tools }: Toolset, host: PolicyPatch): ToolsetSummary[] {
  const policy = policyWith(null, host, { toolset: name })
  if (policy instanceof Refusal) return []
  const { review, review_timeout_ms, assessor, gate } = policy
  const { scope } = TOOLSETS[name]
  return [{ name, review, review_timeout_ms, assessor, gate, scope, tools: tools.map(each => each.name) }]
}
