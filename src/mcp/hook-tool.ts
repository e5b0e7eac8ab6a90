import { setTimeout as delay } from 'node:timers/promises'
import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import type { Door } from '../door/door.ts'
import { answerFor } from '../hooks/answer.ts'
import { SILENCE } from '../hooks/event.ts'
import { handleHook } from '../hooks/handle.ts'
import { eventOfTool, HOOK_CLIENTS } from '../hooks/tool-input.ts'
import { clientOf } from './client-info.ts'
import type { HostHooks } from './host-hooks.ts'
import { hostMeta } from './host-meta.ts'
import { errorResult } from './tool-result.ts'
import { displaySchema } from './tool-schemas.ts'

export interface HookToolOptions {
  readonly hooks: HostHooks
  readonly door: Door
  readonly tenant: string
  /** The conversation of a request, as for any other call. */
  readonly conversation: (ctx: ServerContext) => string
  readonly onError: (error: unknown) => void
}

/** How long a host's hook may wait for us. */
const MAX_MS = 2_000

/** Offers the tool `hook` to the hosts whose hooks call tools. Their models neither see it nor can call it. */
export function offerHookTool(server: McpServer, options: HookToolOptions): void {
  const tool = server.registerTool(
    'hook',
    { description: "For the host's hooks.", inputSchema: ANY_INPUT, _meta: { ui: { visibility: ['app'] } } },
    (input: unknown, ctx: ServerContext) => callHook(server, input, ctx, options),
  )
  // The SDK lists the same tools to every client, and a 2026 client introduces itself with each request.
  const list = server.server['_getRequestHandler']('tools/list')
  if (!list) throw new TypeError('the SDK has no handler for tools/list')
  server.server.setRequestHandler('tools/list', (request, ctx) => {
    tool.enabled = hostOf(server, ctx) !== undefined
    return list(request as never, ctx) as never
  })
}

async function callHook(
  server: McpServer,
  input: unknown,
  ctx: ServerContext,
  { hooks, door, tenant, conversation, onError }: HookToolOptions,
): Promise<CallToolResult> {
  const host = hostOf(server, ctx)
  const { _meta: meta } = ctx.mcpReq
  if (host === undefined || hostMeta(meta, clientOf(server, ctx).name).call !== undefined) {
    return errorResult("Error: hook is for the host's own hooks, and not for models.")
  }
  try {
    const { name, event } = eventOfTool(host, input) ?? {}
    if (name === undefined || !event) return said({})
    hooks.heard(event)
    const { features, notes, redact } = hooks
    const ref = { tenant, conversation: conversation(ctx) }
    const work = handleHook(event, { door, ref, features, notes, redact })
    if (event.kind === 'tool') {
      // There is nothing to answer, so the host need not wait until it is stored. Writes keep their order.
      work.catch(onError)
      return said({})
    }
    const answer = await Promise.race([work, delay(MAX_MS, SILENCE, { ref: false })])
    return said(answerFor(host, name, answer))
  } catch (error) {
    onError(error)
    return said({})
  }
}

const hostOf = (server: McpServer, ctx: ServerContext): (typeof HOOK_CLIENTS)[string] | undefined => {
  const { name = '' } = clientOf(server, ctx)
  return Object.hasOwn(HOOK_CLIENTS, name) ? HOOK_CLIENTS[name] : undefined
}

const said = (answer: object): CallToolResult => ({ content: [{ type: 'text', text: JSON.stringify(answer) }] })

/** What a host puts into it is read by `eventOfTool`. */
const ANY_INPUT = displaySchema({ type: 'object', additionalProperties: true })
