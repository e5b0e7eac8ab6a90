import type { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Toolset } from '../../engine/toolsets/toolset.ts'
import { type ConnectionOptions, createMcpServer, type McpOptions } from './server.ts'

export interface StdioOptions
  extends McpOptions,
    Pick<ConnectionOptions, 'session' | 'environment' | 'folder' | 'hooks' | 'secret'> {
  readonly toolset: Toolset
  readonly conversation: string
}

/** Serves one client over stdin and stdout. A person started it, so its forms count as that person's. */
export function serveOverStdio(stdio: StdioOptions): { close(): Promise<void> } {
  const { toolset, conversation, session, environment, folder, hooks, secret, ...options } = stdio
  const own = { toolset, session, environment, folder, hooks, secret, conversation: () => conversation }
  const createServer = ({ era }: { era: 'legacy' | 'modern' }): McpServer =>
    createMcpServer(options, { ...own, era, isPerson: true })
  return serveStdio(createServer, { onerror: options.onError })
}
