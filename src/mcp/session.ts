import { randomUUID } from 'node:crypto'
import {
  isInitializedNotification,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Toolset } from '../toolsets/toolset.ts'

export interface SessionOwner {
  readonly createServer: (toolset: Toolset) => McpServer
  readonly ended: (session: Session) => void
}

/**
 * A session of a 2025 client. Holds only the client's introduction until the client returns, which many never do; then
 * a server is created and introduced to it. Has no closures of its own, because there may be thousands.
 */
export class Session {
  readonly id: string = randomUUID()
  usedAt: number = performance.now()
  /** Includes streams. */
  openRequests = 0
  readonly #introduction: string
  readonly #toolset: Toolset
  readonly #owner: SessionOwner
  #transport: Promise<WebStandardStreamableHTTPServerTransport> | undefined

  constructor(introduction: string, toolset: Toolset, owner: SessionOwner) {
    this.#introduction = introduction
    this.#toolset = toolset
    this.#owner = owner
  }

  /** `DELETE` ends the session. */
  async handle(request: Request, body: unknown): Promise<Response> {
    if (!this.#transport && request.method === 'DELETE') {
      this.#owner.ended(this)
      return new Response(null)
    }
    // The handshake ends here, but the client may never return.
    if (!this.#transport && isInitializedNotification(body)) return new Response(null, { status: 202 })
    this.#transport ??= this.#connected(request.url).catch((error: unknown): never => {
      this.#transport = undefined
      throw error
    })
    return (await this.#transport).handleRequest(request, { parsedBody: body })
  }

  async close(): Promise<void> {
    await (await this.#transport)?.close()
  }

  async #connected(url: string): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => this.id,
      onsessionclosed: () => this.#owner.ended(this),
    })
    await this.#owner.createServer(this.#toolset).connect(transport)
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
    const parsedBody = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: JSON.parse(this.#introduction) as unknown,
    }
    const greeting = await transport.handleRequest(new Request(url, { method: 'POST', headers }), { parsedBody })
    await greeting.text()
    return transport
  }
}
