import type { Client, Tool, Transport } from '@modelcontextprotocol/client'
import type { Json } from '../../core/model/event.ts'
import {
  secretsInArguments,
  secretsInHeaders,
  secretsInUrl,
  secretsInVariables,
  together,
  type FoundSecrets,
} from '../../core/text/secrets.ts'
import { fingerprintOf, type AskFor, type RuledTool } from '../../core/model/tool-approval.ts'
import type { ToolServerState } from '../../core/views/wire.ts'
import { hashOf } from '../door/door.ts'
import type { CallIds, OutsideTool, OutsideTools } from '../worker/outside.ts'

/** An MCP server, in the format that other hosts use in their settings. */
export type McpServer = (
  | { readonly command: string; readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
) & {
  /**
   * Which calls need a person's approval where no rule is set: `all`, `changes` (of tools that do not declare
   * themselves read-only), or `none`. Default `none`.
   */
  readonly ask?: AskFor
}

/** The MCP servers to connect to. `onError` is called for each server that cannot be reached. */
export interface McpOptions {
  readonly servers: Readonly<Record<string, McpServer>>
  readonly version: string
  readonly onError: (server: string, error: unknown) => void
  /** How long an unreachable server is skipped before the next attempt. */
  readonly retryAfterMs?: number
  /** How long a turn waits for a server to connect. */
  readonly waitMs?: number
}

const WAIT_MS = 10_000
/** Time for a server to connect and list its tools: a program's first start may download it. */
const CONNECT_MS = 60_000
const RETRY_AFTER_MS = 30_000
/** Sent in `_meta` of a call, because MCP has no idempotency key. A Runsheet server recognizes it. */
const CALL_ID = 'runsheet/tool_call_id'

/** The tools of MCP servers. A failing server is reported and left out. */
export function mcpTools(options: McpOptions): OutsideTools {
  const servers = new McpServers(options)
  return { secrets: secretsOf(options.servers), list: () => servers.list(), close: () => servers.close() }
}

/** Secrets in the settings of MCP servers: variables, arguments, headers and URLs. */
export const secretsOf = (servers: Readonly<Record<string, McpServer>>): FoundSecrets =>
  together(
    Object.values(servers).flatMap(server =>
      'url' in server
        ? [secretsInUrl(server.url), secretsInHeaders(server.headers ?? {})]
        : [secretsInArguments(server.args ?? []), secretsInVariables(server.env ?? {})],
    ),
  )

export interface McpState {
  readonly state: ToolServerState
  /** In milliseconds since the epoch. */
  readonly since: number
  readonly reason?: string
  readonly tools: readonly McpTool[]
}

export interface McpTool extends OutsideTool {
  readonly title?: string
  readonly from: RuledTool
}

export class McpServers implements OutsideTools {
  readonly #options: Omit<McpOptions, 'servers'>
  #connections = new Map<string, Connection>()

  constructor({ servers, ...options }: McpOptions) {
    this.#options = options
    this.use(servers)
  }

  /** Connects to these servers, and disconnects from those that are gone or changed. */
  use(servers: Readonly<Record<string, McpServer>>): void {
    const before = this.#connections
    this.#connections = new Map(
      Object.entries(servers).map(([name, server]) => {
        const known = before.get(name)
        const isSame = known !== undefined && hashOf(known.server) === hashOf(server)
        return [name, isSame ? known : new Connection(name, server, this.#options)]
      }),
    )
    const kept = new Set(this.#connections.values())
    for (const connection of before.values()) if (!kept.has(connection)) void connection.close()
  }

  async list(): Promise<readonly McpTool[]> {
    const connections = [...this.#connections.values()]
    return withDistinctNames((await Promise.all(connections.map(connection => connection.tools()))).flat())
  }

  /** The current state of each server. Starts connecting servers that were not needed yet. */
  states(): ReadonlyMap<string, McpState> {
    return new Map([...this.#connections].map(([name, connection]) => [name, connection.look()]))
  }

  retry(name: string): boolean {
    const connection = this.#connections.get(name)
    connection?.retry()
    return connection !== undefined
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map(connection => connection.close()))
  }
}

/** Numbers names that are equal after cleaning. */
function withDistinctNames(tools: readonly McpTool[]): McpTool[] {
  const taken = new Set<string>()
  return tools.map(tool => {
    let { name } = tool
    for (let count = 2; taken.has(name); count += 1) name = `${tool.name.slice(0, 60)}_${count}`
    taken.add(name)
    return { ...tool, name }
  })
}

class Connection {
  readonly server: McpServer
  readonly #name: string
  readonly #options: Omit<McpOptions, 'servers'>
  #client: Client | undefined
  #attempt: Promise<void> | undefined
  #attemptedAt = 0
  #tools: readonly McpTool[] | undefined
  #failedAt = Number.NEGATIVE_INFINITY
  #failure: string | undefined
  /** Timed out before, so turns no longer wait for it. */
  #isSlow = false
  #since = Date.now()
  #isClosed = false

  constructor(name: string, server: McpServer, options: Omit<McpOptions, 'servers'>) {
    this.#name = name
    this.server = server
    this.#options = options
  }

  /** Empty if it failed or takes too long. */
  async tools(): Promise<readonly McpTool[]> {
    this.#begin()
    const left = this.#attemptedAt + (this.#options.waitMs ?? WAIT_MS) - performance.now()
    if (this.#attempt && !this.#isSlow && left > 0) await within(left, this.#attempt)
    return this.#tools ?? []
  }

  look(): McpState {
    this.#begin()
    const tools = this.#tools ?? []
    const since = this.#since
    if (this.#tools) return { state: 'ready', since, tools }
    return this.#attempt || this.#failure === undefined
      ? { state: 'connecting', since, tools }
      : { state: 'failed', since, tools, reason: this.#failure }
  }

  retry(): void {
    this.#failedAt = Number.NEGATIVE_INFINITY
    this.#begin()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#client?.close().catch(() => {})
  }

  /** Starts connecting, unless connected, connecting, or recently failed. */
  #begin(): void {
    if (this.#isClosed || this.#tools || this.#attempt) return
    if (performance.now() - this.#failedAt < (this.#options.retryAfterMs ?? RETRY_AFTER_MS)) return
    this.#attemptedAt = performance.now()
    if (this.#failure === undefined) this.#since = Date.now()
    this.#attempt = this.#connect()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#attempt = undefined
      })
  }

  async #connect(): Promise<void> {
    const { Client } = await import('@modelcontextprotocol/client')
    const transport = await transportFor(this.server)
    if (this.#isClosed) return
    const client: Client = new Client(
      { name: 'runsheet', version: this.#options.version },
      {
        listChanged: {
          tools: {
            onChanged: (error, tools) => {
              // If the tools cannot be listed again, they may differ from the allowed ones.
              if (error || !tools) this.#forget(client)
              else if (this.#client === client && this.#tools) this.#tools = this.#read(client, tools)
            },
          },
        },
      },
    )
    this.#client = client
    Object.assign(client, { onclose: () => this.#forget(client) })
    await client.connect(transport, { timeout: CONNECT_MS })
    const { tools } = await client.listTools(undefined, { timeout: CONNECT_MS })
    if (this.#isClosed) return
    this.#tools = this.#read(client, tools)
    this.#since = Date.now()
    this.#failure = undefined
    this.#isSlow = false
  }

  #read(client: Client, tools: readonly Tool[]): readonly McpTool[] {
    const place = hashOf('url' in this.server ? this.server.url : [this.server.command, this.server.args ?? []])
    const { ask = 'none' } = this.server
    return tools.map(tool => {
      const { name, title, description = '', inputSchema, annotations } = tool
      const isReadOnly = annotations?.readOnlyHint === true
      const shown = title ?? annotations?.title
      return {
        name: `${this.#name}__${name}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64),
        description,
        ...(shown === undefined ? {} : { title: shown }),
        inputSchema,
        isRepeatable: isReadOnly || annotations?.idempotentHint === true,
        from: {
          server: this.#name,
          tool: name,
          fingerprint: fingerprintOf(hashOf([name, description, inputSchema, annotations ?? {}]), place),
          isReadOnly,
          ask,
        },
        call: (input, signal, ids) => this.#call(client, name, input, signal, ids),
      }
    })
  }

  async #call(
    client: Client,
    name: string,
    input: unknown,
    signal: AbortSignal,
    { idempotencyKey }: CallIds,
  ): Promise<Json> {
    const args = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
    // Our own signal limits the call, because the client's default timeout is shorter.
    const called = client.callTool(
      { name, arguments: args, _meta: { [CALL_ID]: idempotencyKey } },
      { signal, timeout: 2 ** 31 - 1 },
    )
    const answer = await called.catch(async (error: unknown) => {
      const { ProtocolError } = await import('@modelcontextprotocol/client')
      // A protocol error comes from the server itself; any other error means that the connection is lost.
      if (!signal.aborted && !(error instanceof ProtocolError)) this.#forget(client)
      throw error
    })
    const texts = answer.content.map(part => (part.type === 'text' ? part.text : `[${part.type}]`))
    const result = answer.structuredContent === undefined ? texts.join('\n') : (answer.structuredContent as Json)
    if (answer.isError) throw new Error(typeof result === 'string' ? result : JSON.stringify(result))
    return result
  }

  #forget(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#tools = undefined
    this.#since = Date.now()
    void client.close().catch(() => {})
  }

  #failed(error: unknown): void {
    this.#isSlow = performance.now() - this.#attemptedAt > (this.#options.waitMs ?? WAIT_MS)
    this.#failedAt = performance.now()
    this.#failure = error instanceof Error ? error.message : String(error)
    this.#since = Date.now()
    this.#tools = undefined
    void this.#client?.close().catch(() => {})
    if (!this.#isClosed) this.#options.onError(this.#name, error)
  }
}

/** Resolves with the attempt, or after `ms`. */
async function within(ms: number, attempt: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([attempt, late.promise])
  clearTimeout(timer)
}

// The MCP client is loaded with the first server, so that programs without one need not install it.
async function transportFor(server: McpServer): Promise<Transport> {
  if ('url' in server) {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    return new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: { ...server.headers } } })
  }
  const { getDefaultEnvironment, StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const { command, args = [], env = {} } = server
  // Only what a program needs to start, without our tokens or keys.
  return new StdioClientTransport({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
  })
}
