import type { CallToolResult, McpServer, RegisteredTool, ServerContext } from '@modelcontextprotocol/server'
import type { Redactor } from '../../core/text/redact.ts'
import { answerFor, type HookEvent, type HookFeatures } from '../../hosts/hook-event.ts'
import { ProcessNotes, deliverHook } from '../../hosts/hook-handler.ts'
import { eventOfTool } from '../../hosts/hook-payload.ts'
import { commandHost, toolHost, type HookHost } from '../../hosts/hosts.ts'
import type { Hooked } from './binding.ts'
import { clientOf, hostMeta } from './client-info.ts'
import type { Connection, McpOptions } from './connection.ts'
import { displaySchema, errorResult, listedTool } from './tool-schemas.ts'

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

export interface HostHooksOptions {
  readonly features: HookFeatures
  readonly redact: Redactor
  /** The session last recorded by command hooks of this host, which run in other processes. */
  readonly noted?: ((host: HookHost) => string | undefined) | undefined
}

/** Reports from the hooks of the host that started this process. */
export class HostHooks {
  readonly options: HostHooksOptions
  readonly notes: ProcessNotes = new ProcessNotes()
  #last: Hooked | undefined

  constructor(options: HostHooksOptions) {
    this.options = options
  }

  heard({ session, turn }: HookEvent): void {
    const before = this.#last?.session === session ? this.#last : undefined
    this.#last = { session, turn: turn ?? before?.turn }
  }

  hooked(client: string | undefined): Hooked | undefined {
    if (this.#last) return this.#last
    const host = commandHost(client)
    const session = host && this.options.noted?.(host)
    return session === undefined ? undefined : { session, turn: undefined }
  }
}
