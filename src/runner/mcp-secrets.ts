import type { Secrets } from '../domain/redact.ts'
import { secretsInSettings, secretsInUrl } from '../domain/secrets.ts'
import type { McpServer } from './mcp-tools.ts'

/** The secrets in the settings of MCP servers: variables, arguments, headers and URLs. */
export function secretsOf(servers: Readonly<Record<string, McpServer>>): Required<Secrets> {
  const found = Object.values(servers).map(secretsOfServer)
  return {
    known: found.flatMap(({ known }) => known),
    suspected: found.flatMap(({ suspected }) => suspected),
  }
}

function secretsOfServer(server: McpServer): Required<Secrets> {
  const { known, suspected } = secretsInSettings('url' in server ? (server.headers ?? {}) : (server.env ?? {}))
  const more = 'url' in server ? secretsInUrl(server.url) : secretsInArguments(server.args ?? [])
  return { known: [...known, ...more], suspected }
}

/** `--api-key VALUE`, `--api-key=VALUE` and URLs with a password. */
function secretsInArguments(args: readonly string[]): readonly string[] {
  const options = args.flatMap((arg, index) => {
    const [, name, value = args[index + 1]] = /^--?([\w-]+)(?:=(.*))?$/s.exec(arg) ?? []
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  })
  return [...secretsInSettings(Object.fromEntries(options)).known, ...args.flatMap(secretsInUrl)]
}
