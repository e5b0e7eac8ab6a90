import type { CallToolResult, McpServer, RegisteredTool, ServerContext } from '@modelcontextprotocol/server'
import { answerFor } from '../hooks/answer.ts'
import { deliverHook } from '../hooks/handle.ts'
import { eventOfTool } from '../hooks/tool-input.ts'
import { toolHost } from '../hosts/hosts.ts'
import { clientOf } from './client-info.ts'
import type { Connection, McpOptions } from './connection.ts'
import type { HostHooks } from './host-hooks.ts'
import { hostMeta } from './host-meta.ts'
import { errorResult } from './tool-result.ts'
import { displaySchema, listedTool } from './tool-schemas.ts'

/**
 * Adds the tool `hook` to `tools`, listed only to hosts whose hooks call tools. Their models neither see it nor can
 * call it. The SDK would list the same tools to every client, and a 2026 client introduces itself with each request.
 */
export function offerHookTool(
  server: McpServer,
  tools: Map<string, RegisteredTool>,
  hooks: HostHooks,
  connection: Connection,
  { door, tenant, onError }: McpOptions,
): void {
  const hostOf = (ctx: ServerContext) => toolHost(clientOf(server, ctx).name)
  const call = async (input: unknown, ctx: ServerContext): Promise<CallToolResult> => {
    const host = hostOf(ctx)
    if (host === undefined || hostMeta(ctx.mcpReq._meta, clientOf(server, ctx).name).call !== undefined) {
      return errorResult("Error: hook is for the host's own hooks, and not for models.")
    }
    try {
      const { name, event } = eventOfTool(host, input) ?? {}
      if (name === undefined || !event) return said({})
      hooks.heard(event)
      const ref = { tenant, conversation: connection.conversationOf(ctx) }
      const answer = await deliverHook(event, { ...hooks.options, notes: hooks.notes, door, ref, onError })
      return said(answerFor(host, name, answer))
    } catch (error) {
      onError(error)
      return said({})
    }
  }
  const description = "For the host's hooks."
  const hook = { description, inputSchema: ANY_INPUT, _meta: { ui: { visibility: ['app'] } } }
  tools.set('hook', server.registerTool('hook', hook, call))
  server.server.setRequestHandler('tools/list', (_, ctx) => {
    const shown = [...tools].filter(([name]) => name !== 'hook' || hostOf(ctx) !== undefined)
    return { tools: shown.map(([name, tool]) => listedTool(name, tool)) }
  })
}

const said = (answer: object): CallToolResult => ({ content: [{ type: 'text', text: JSON.stringify(answer) }] })

/** `eventOfTool` parses the input. */
const ANY_INPUT = displaySchema({ type: 'object', additionalProperties: true })
