import type { Client, Transport } from '@modelcontextprotocol/client'
import type { Json } from '../domain/event.ts'
import { secretsOf } from './mcp-secrets.ts'
import type { CallIds, OutsideTool, OutsideTools } from './outside.ts'

/** An MCP server, in the form that other hosts use in their settings. */
export type McpServer =
  | { readonly command: string; readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }

/** The MCP servers to connect to. `onError` hears of each server that cannot be reached. */
export interface McpOptions {
  readonly servers: Readonly<Record<string, McpServer>>
  readonly version: string
  readonly onError: (server: string, error: unknown) => void
  /** How long an unreachable server is left out before the next attempt. */
  readonly retryAfterMs?: number
}

/** How long a server may take to connect and list its tools. */
const CONNECT_MS = 10_000
const RETRY_AFTER_MS = 30_000
/** In `_meta` of a call: MCP has no idempotency key of its own. A Runsheet server knows this one. */
const CALL_ID = 'runsheet/tool_call_id'

/** The tools of MCP servers. A failing server is reported and left out. */
export function mcpTools(options: McpOptions): OutsideTools {
  const connections = Object.entries(options.servers).map(([name, server]) => new Connection(name, server, options))
  return {
    secrets: secretsOf(options.servers),
    list: async () => withDistinctNames((await Promise.all(connections.map(connection => connection.tools()))).flat()),
    close: async () => {
      await Promise.all(connections.map(connection => connection.close()))
    },
  }
}

/** Numbers the names that are equal once they are cleaned. */
function withDistinctNames(tools: readonly OutsideTool[]): OutsideTool[] {
  const taken = new Set<string>()
  return tools.map(tool => {
    let { name } = tool
    for (let count = 2; taken.has(name); count += 1) name = `${tool.name.slice(0, 60)}_${count}`
    taken.add(name)
    return { ...tool, name }
  })
}

class Connection {
  readonly #name: string
  readonly #server: McpServer
  readonly #options: McpOptions
  #client: Client | undefined
  #tools: Promise<readonly OutsideTool[]> | undefined
  #failedAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(name: string, server: McpServer, options: McpOptions) {
    this.#name = name
    this.#server = server
    this.#options = options
  }

  async tools(): Promise<readonly OutsideTool[]> {
    if (performance.now() - this.#failedAt < (this.#options.retryAfterMs ?? RETRY_AFTER_MS)) return []
    this.#tools ??= this.#connect()
    try {
      return await this.#tools
    } catch (error) {
      this.#failed(error)
      return []
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#client?.close().catch(() => {})
  }

  async #connect(): Promise<readonly OutsideTool[]> {
    const { Client } = await import('@modelcontextprotocol/client')
    const transport = await transportFor(this.#server)
    if (this.#isClosed) return []
    const client = new Client({ name: 'runsheet', version: this.#options.version })
    this.#client = client
    Object.assign(client, { onclose: () => this.#forget(client) })
    await client.connect(transport, { timeout: CONNECT_MS })
    const { tools } = await client.listTools(undefined, { timeout: CONNECT_MS })
    return tools.map(tool => ({
      name: `${this.#name}__${tool.name}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64),
      description: tool.description ?? '',
      inputSchema: tool.inputSchema as OutsideTool['inputSchema'],
      isRepeatable: tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true,
      call: (input, signal, ids) => this.#call(client, tool.name, input, signal, ids),
    }))
  }

  async #call(
    client: Client,
    name: string,
    input: unknown,
    signal: AbortSignal,
    { idempotencyKey }: CallIds,
  ): Promise<Json> {
    const args = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
    // Our own signal limits the call; the client's default timeout is shorter.
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

  /** Drops the connection; the next call reconnects. */
  #forget(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#tools = undefined
    void client.close().catch(() => {})
  }

  #failed(error: unknown): void {
    this.#failedAt = performance.now()
    this.#tools = undefined
    void this.#client?.close().catch(() => {})
    this.#options.onError(this.#name, error)
  }
}

// The MCP client is loaded with the first server: programs without one need not install it.
async function transportFor(server: McpServer): Promise<Transport> {
  if ('url' in server) {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    return new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: { ...server.headers } } })
  }
  const { getDefaultEnvironment, StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const { command, args = [], env = {} } = server
  // Only what a program needs to start: none of our tokens or keys.
  return new StdioClientTransport({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
  })
}
