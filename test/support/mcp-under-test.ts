import { InMemoryServerEventBus } from '@modelcontextprotocol/server'
import { createMcpServer } from '../../src/server/mcp/server.ts'
import { startMcpServer } from './mcp.ts'
import { addFixtures } from './mcp-conformance.ts'
import { TOKENS } from './server.ts'
import { startTokenProxy } from './token-proxy.ts'

/** For tests: `/mcp` with the conformance suite's fixtures, and with the token that the suite does not send. */
export async function startUnderTest(): Promise<{ url: URL; close: () => Promise<void> }> {
  const bus = new InMemoryServerEventBus()
  const server = await startMcpServer({
    bus,
    createServer: (options, connection) => {
      const { codec } = options
      const built = createMcpServer(options, connection)
      addFixtures(built, {
        era: connection.era,
        codec,
        notify: {
          toolsChanged: () => bus.publish({ kind: 'tools_list_changed' }),
          promptsChanged: () => bus.publish({ kind: 'prompts_list_changed' }),
        },
      })
      return built
    },
  })
  const proxy = await startTokenProxy(new URL('/mcp', server.url), TOKENS.agent)
  return {
    url: proxy.url,
    close: async () => {
      await proxy.close()
      await server.close()
    },
  }
}
