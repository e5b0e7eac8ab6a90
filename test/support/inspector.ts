import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProcess } from './children.ts'

const launcher = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
)

export interface Inspected {
  readonly code: number | null
  /** The server's answer, if any. */
  readonly result:
    | {
        readonly tools?: readonly { readonly name: string }[]
        readonly resources?: readonly { readonly uri: string }[]
        readonly contents?: readonly { readonly text?: string }[]
        readonly structuredContent?: unknown
      }
    | undefined
  readonly stderr: string
}

/** The server: a command to start, or a URL. */
export type Target =
  | { readonly command: readonly string[] }
  | { readonly url: URL; readonly headers: Readonly<Record<string, string>> }

/**
 * Sends one request with the Inspector's CLI, as a child process. The Inspector keeps its files in `home`, a folder of the
 * test.
 */
export async function inspect(
  home: string,
  method: string,
  target: Target,
  options: readonly string[] = [],
): Promise<Inspected> {
  const how =
    'url' in target
      ? ['--server-url', target.url.href, '--transport', 'http', ...headersOf(target.headers)]
      : ['--', ...target.command]
  const args = ['--cli', '--format', 'json', '--stored-auth-only', '--method', method, ...options, ...how]
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = runProcess([process.execPath, launcher, ...args], {
    cwd: home,
    env: { PATH, NODE_COMPILE_CACHE, HOME: home, MCP_CATALOG_PATH: join(home, 'catalog.json') },
  })
  const { code, stderr } = await child.ended
  const answered = child.lines.find(line => line.startsWith('{'))
  return { code, stderr, result: answered === undefined ? undefined : JSON.parse(answered).result }
}

const headersOf = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
