import { InMemoryTransport, type McpServer, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import type { Toolset } from '../toolsets/toolset.ts'

/** Caches `initialize` results: they depend only on the toolset and the protocol version. */
export class Greetings {
  readonly #createServer: (toolset: Toolset) => McpServer
  readonly #known = new Map<string, Promise<string>>()

  constructor(createServer: (toolset: Toolset) => McpServer) {
    this.#createServer = createServer
  }

  of(toolset: Toolset, protocolVersion: string): Promise<string> {
    // Unknown versions share the newest one's answer; a client's string must not become a key.
    const version = SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : ''
    const key = `${toolset.name} ${version}`
    const greeting = this.#known.get(key) ?? this.#ask(toolset, version)
    this.#known.set(key, greeting)
    return greeting
  }

  async #ask(toolset: Toolset, protocolVersion: string): Promise<string> {
    const [client, transport] = InMemoryTransport.createLinkedPair()
    const server = this.#createServer(toolset)
    await server.connect(transport)
    const answer = Promise.withResolvers<string>()
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
    client.onmessage = message => 'result' in message && answer.resolve(JSON.stringify(message.result))
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'runsheet', version: '0' } }
    await client.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
    const greeting = await answer.promise
    await server.close()
    return greeting
  }
}
