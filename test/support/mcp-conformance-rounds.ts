import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequest,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'

/** The state of a call between its rounds. */
export interface RoundState {
  readonly round: number
}

/**
 * Since 2026-07-28 a call that needs input from its client returns a request for it, and is made again with the answer.
 * These are the conformance suite's fixtures for that.
 */
export function addRounds(server: McpServer, codec: Pick<RequestStateCodec<RoundState>, 'mint'>): void {
  const tool = (name: string, handle: (ctx: ServerContext) => Promise<CallToolResult | InputRequiredResult>) =>
    server.registerTool(name, { description: 'Needs something from its client.' }, handle)
  const sealed = async (ctx: ServerContext, round: number, inputRequests: Record<string, InputRequest>) =>
    inputRequired({ inputRequests, requestState: await codec.mint({ round }, ctx) })

  tool('test_input_required_result_elicitation', async ctx => {
    const given = acceptedContent(ctx.mcpReq.inputResponses, 'user_name', NAME)
    return given ? said(`Hello, ${given.name}!`) : inputRequired({ inputRequests: { user_name: ASK_NAME } })
  })
  tool('test_input_required_result_sampling', async ctx =>
    has(ctx, 'capital_question', 'sampling')
      ? said('The model answered.')
      : inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?') } }),
  )
  tool('test_input_required_result_list_roots', async ctx => {
    const given = inputResponse(ctx.mcpReq.inputResponses, 'client_roots')
    return given.kind === 'roots'
      ? said(given.roots.map(({ uri }) => uri).join('\n'))
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
  })

  for (const name of ['test_input_required_result_request_state', 'test_input_required_result_tampered_state']) {
    tool(name, async ctx => {
      const round = ctx.mcpReq.requestState<RoundState>()?.round
      if (round === 1 && has(ctx, 'confirm', 'elicit')) return said('state-ok')
      return sealed(ctx, 1, { confirm: ask('Confirm?', z.object({ ok: z.boolean() })) })
    })
  }
  tool('test_input_required_result_multiple_inputs', async ctx => {
    const all = has(ctx, 'user_name', 'elicit') && has(ctx, 'greeting', 'sampling') && has(ctx, 'client_roots', 'roots')
    if (all && ctx.mcpReq.requestState<RoundState>()) return said('All three are there.')
    const greeting = sample('Write a greeting.')
    return sealed(ctx, 1, { user_name: ASK_NAME, greeting, client_roots: inputRequired.listRoots() })
  })
  tool('test_input_required_result_multi_round', async ctx => {
    const round = ctx.mcpReq.requestState<RoundState>()?.round
    if (round === 2 && has(ctx, 'step2', 'elicit')) return said('Both steps are done.')
    const first = round === 1 && has(ctx, 'step1', 'elicit')
    if (first || round === 2) return sealed(ctx, 2, { step2: ask('Which colour?', z.object({ color: z.string() })) })
    return sealed(ctx, 1, { step1: ASK_NAME })
  })

  tool('test_input_required_result_capabilities', async ctx => {
    const { sampling, elicitation } = clientOf(ctx)
    return inputRequired({
      inputRequests: {
        ...(sampling ? { greeting: sample('Write a greeting.') } : {}),
        ...(elicitation ? { user_name: ASK_NAME } : {}),
      },
    })
  })
  // The SDK checks the client's capabilities; these two only ask.
  tool('test_missing_capability', async () =>
    inputRequired({ inputRequests: { greeting: sample('Write a greeting.') } }),
  )
  tool('test_streaming_elicitation', async () => inputRequired({ inputRequests: { user_name: ASK_NAME } }))

  server.registerPrompt('test_input_required_result_prompt', { description: 'Needs a context.' }, async ctx =>
    has(ctx, 'user_context', 'elicit')
      ? { messages: [{ role: 'user', content: text('With the context that was given.') }] }
      : inputRequired({ inputRequests: { user_context: ask('Which context?', z.object({ context: z.string() })) } }),
  )
}

export const text = (what: string) => ({ type: 'text' as const, text: what })
export const said = (what: string) => ({ content: [text(what)] })

/** The SDK's type of the envelope has no keys. */
const clientOf = (ctx: ServerContext): ClientCapabilities =>
  (ctx.mcpReq.envelope as Record<string, ClientCapabilities | undefined> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ??
  {}

const has = (ctx: ServerContext, key: string, kind: 'elicit' | 'sampling' | 'roots'): boolean =>
  inputResponse(ctx.mcpReq.inputResponses, key).kind === kind

const ask = (message: string, requestedSchema: z.ZodObject): InputRequest =>
  inputRequired.elicit({ message, requestedSchema })

const sample = (what: string): InputRequest =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(what) }], maxTokens: 100 })

const NAME = z.object({ name: z.string() })
const ASK_NAME = ask('What is your name?', NAME)
