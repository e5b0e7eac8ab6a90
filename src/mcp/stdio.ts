import type { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Toolset } from '../toolsets/toolset.ts'
import { type McpOptions, mcpServer } from './server.ts'

export interface StdioOptions extends McpOptions {
  readonly toolset: Toolset
  /** The conversation of this process. */
  readonly conversation: string
}

/** Serves the one client at our standard input and output, whom the person started themselves. */
export function serveOverStdio({ toolset, conversation, ...options }: StdioOptions): { close(): Promise<void> } {
  const build = ({ era }: { era: 'legacy' | 'modern' }): McpServer =>
    mcpServer(options, { era, toolset, isPerson: true, conversation: () => conversation, lasts: true })
  return serveStdio(build, { onerror: options.onError })
}
