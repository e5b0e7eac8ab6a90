import {
  type FoundSecrets,
  secretsInArguments,
  secretsInHeaders,
  secretsInUrl,
  secretsInVariables,
  together,
} from '../domain/secrets.ts'
import type { McpServer } from './mcp-tools.ts'

/** The secrets in the settings of MCP servers: variables, arguments, headers and URLs. */
export const secretsOf = (servers: Readonly<Record<string, McpServer>>): FoundSecrets =>
  together(
    Object.values(servers).flatMap(server =>
      'url' in server
        ? [secretsInUrl(server.url), secretsInHeaders(server.headers ?? {})]
        : [secretsInArguments(server.args ?? []), secretsInVariables(server.env ?? {})],
    ),
  )
