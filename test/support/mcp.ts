import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  Client,
  StreamableHTTPClientTransport,
  type ClientCapabilities,
  type ElicitRequest,
  type ElicitResult,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, vi } from 'vitest'
import { createClient, type Client as Person } from '../../src/client/client.ts'
import type { ReviewRequest } from '../../src/core/model/review.ts'
import { roundStateCodec } from '../../src/server/mcp/waiters.ts'
import { createMcpEndpoint, type EndpointOptions, type McpEndpoint } from '../../src/server/mcp/http.ts'
import { NO_SETTINGS, runCli, type Child } from './children.ts'
import { TOKENS, startServer, type TestServer } from './server.ts'
import type { StoreKind } from './stores.ts'

export type Era = '2025' | '2026'

/** For tests: a real server with `/mcp`, composed as in `runsheet serve`. */
export interface McpTestServer extends TestServer {
  readonly mcp: McpEndpoint
}

export async function startMcpServer(
  options: Partial<EndpointOptions> & { store?: StoreKind; agentWritesPerMinute?: number } = {},
): Promise<McpTestServer> {
  const { store, agentWritesPerMinute = 1_000_000, ...more } = options
  const ending = new AbortController()
  let mcp: McpEndpoint | undefined
  const started = await startServer({
    agentWritesPerMinute,
    ...(store ? { store } : {}),
    ...(more.door ? { door: more.door } : {}),
    mcp: (request, incoming) => mcp?.fetch(request, incoming) ?? Promise.reject(new Error('not yet')),
  })
  const { door, url, server } = started
  const endpoint = createMcpEndpoint({
    door,
    tenant: 'local',
    version: '0.0.0',
    host: {},
    onError: () => {},
    codec: roundStateCodec(TOKENS.person),
    closing: ending.signal,
    pageUrl: async (conversation, signedIn) =>
      `${url.href}?chat=${conversation}${signedIn ? `#code=${server.loginCode()}` : ''}`,
    ...more,
  })
  mcp = endpoint
  return {
    ...started,
    mcp: endpoint,
    close: async () => {
      ending.abort()
      await endpoint.close()
      await started.close()
    },
  }
}

/** A host: the official client, and the elicitations it got. */
export interface Host {
  readonly client: Client
  /** The elicitations, in order. */
  readonly asked: ElicitRequest['params'][]
  readonly call: (name: string, input?: Record<string, unknown>) => Promise<ToolResult>
}
export interface ToolResult {
  readonly text: string
  readonly data: Record<string, unknown> | undefined
  readonly isError: boolean
}
export interface HostOptions {
  readonly era: Era
  readonly capabilities?: ClientCapabilities
  readonly answers?: (params: ElicitRequest['params'], signal: AbortSignal) => Promise<ElicitResult> | ElicitResult
  readonly name?: string
}

export const FORM: ClientCapabilities = { elicitation: { form: {} } }
export const URL_MODE: ClientCapabilities = { elicitation: { url: {} } }

export function hostOf({ era, capabilities = {}, answers, name = 'a host' }: HostOptions): Host {
  const client = new Client(
    { name, version: '1.0.0' },
    { capabilities, ...(era === '2026' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {}) },
  )
  const asked: ElicitRequest['params'][] = []
  if (capabilities.elicitation) {
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      asked.push(params)
      return (await answers?.(params, mcpReq.signal)) ?? { action: 'cancel' }
    })
  }
  return {
    client,
    asked,
    call: async (tool, input = {}) => {
      const { content, structuredContent, isError = false } = await client.callTool({ name: tool, arguments: input })
      const [first] = content
      return {
        text: first?.type === 'text' ? first.text : '',
        data: structuredContent as Record<string, unknown> | undefined,
        isError,
      }
    },
  }
}

/** A form that is accepted with a choice. */
export const chosen = (decision: string, content: Record<string, string> = {}): ElicitResult => ({
  action: 'accept',
  content: { decision, ...content },
})

/** How long a person looks at a question: an answer within a second would be a machine's. */
const LOOK_MS = 1_050

/** Answers like a person who has looked. */
export const afterALook =
  (answers: NonNullable<HostOptions['answers']>): NonNullable<HostOptions['answers']> =>
  async (params, signal) => {
    await delay(LOOK_MS)
    return answers(params, signal)
  }

/** Over HTTP, with a token and whatever headers. */
export async function overHttp(
  { url }: { url: URL },
  host: Host,
  options: { as?: keyof typeof TOKENS; headers?: Record<string, string> } = {},
): Promise<Host> {
  const headers = { authorization: `Bearer ${TOKENS[options.as ?? 'person']}`, ...options.headers }
  await host.client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }))
  return host
}

/** A page server that is still starting when its test ends cannot be found and killed: it exits by itself. */
export const PAGE_ENV = { RUNSHEET_PORT: '0', RUNSHEET_IDLE_EXIT: '20s', RUNSHEET_BROWSER: 'off' }

/** Over stdio, with the program as a child process: as built, or from its source. */
export async function overStdio(
  data: string,
  host: Host,
  args: readonly string[] = [],
  file = 'dist/cli/runsheet.js',
  { env = {}, cwd }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<Host & StdioEnd> {
  const main = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  const clean = Object.entries(process.env).filter(([key]) => !/^(RUNSHEET|CLAUDE)/.test(key))
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, 'mcp', '--data', data, ...args],
    env: { ...(Object.fromEntries(clean) as Record<string, string>), ...NO_SETTINGS, ...PAGE_ENV, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stderr: 'pipe',
  })
  let said = ''
  transport.stderr?.on('data', chunk => {
    said += String(chunk)
  })
  await host.client.connect(transport)
  return { ...host, pid: transport.pid ?? 0, stderr: () => said }
}
export interface StdioEnd {
  readonly pid: number
  readonly stderr: () => string
}

/** Starts the server of a data folder as a child process. */
export async function serveFolder(
  data: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Child> {
  const child = runCli(['serve', '--port', '0', '--data', data, ...args], { file: 'dist/cli/runsheet.js', env })
  await child.line(line => line.startsWith('Runsheet is ready'))
  return child
}

/** A person's client of the server of this folder. */
export function personAt(data: string): Person {
  const { local } = JSON.parse(readFileSync(join(data, 'server.json'), 'utf8')) as { local: string }
  return createClient({ url: local, token: readFileSync(join(data, 'person-token'), 'utf8').trim() })
}

/** Resolves with the pending review, of one conversation if it is named. */
export const waiting = (person: Person, session?: string): Promise<ReviewRequest> =>
  vi.waitFor(
    async () => {
      const [review] = (await person.pendingReviews(session)).reviews
      expect(review).toBeDefined()
      return review as ReviewRequest
    },
    { timeout: 20_000, interval: 20 },
  )

export const PLAN = { tasks: [{ title: 'Look' }, { title: 'Leap', done_when: 'landed' }] }
