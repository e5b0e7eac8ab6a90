import type { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Toolset } from '../toolsets/toolset.ts'
import { createMcpServer, type McpOptions } from './server.ts'

export interface StdioOptions extends McpOptions {
  readonly toolset: Toolset
  /** The conversation of this process. */
  readonly conversation: string
}

/** Serves one client over stdin and stdout. A person started it, so its forms count as theirs. */
export function serveOverStdio({ toolset, conversation, ...options }: StdioOptions): { close(): Promise<void> } {
  const createServer = ({ era }: { era: 'legacy' | 'modern' }): McpServer =>
    createMcpServer(options, { era, toolset, isPerson: true, conversation: () => conversation, persistent: true })
  return serveStdio(createServer, { onerror: options.onError })
}
