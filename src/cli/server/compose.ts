import { join } from 'node:path'
import { EventEmitter } from 'node:events'
import { originNames } from '../../core/model/origin.ts'
import type { PolicyPatch } from '../../core/model/policy.ts'
import { DEMO } from '../../core/model/settings.ts'
import { exceptStorage, type Door, type LiveEntry, type Ref } from '../../engine/door/door.ts'
import { Metrics } from '../../server/http/metrics.ts'
import { pageFrom } from '../../server/http/page.ts'
import { createHttpServer } from '../../server/http/server.ts'
import type { McpEndpoint } from '../../server/mcp/http.ts'
import { sandboxTools } from '../../demo/sandbox.ts'
import { importDrive } from '../../engine/worker/drive-work.ts'
import { claimJudge } from '../../engine/worker/judge.ts'
import { McpServers } from '../../engine/turn/mcp-tools.ts'
import { givenTools, joinedTools, onlyFor, type OutsideTools } from '../../engine/worker/outside.ts'
import { Titler } from '../../engine/turn/titler.ts'
import { Worker } from '../../engine/worker/worker.ts'
import { LOCAL_TENANT } from '../../store/store.ts'
import { WebhookSender, type SenderOptions } from '../../webhook/sender.ts'
import type { WebhookSettings } from '../../webhook/settings.ts'
import type { Config } from '../configure.ts'
import type { Environment } from '../environment.ts'
import { ROOT, version } from '../invocation.ts'
import { storeLocation } from './open-store.ts'
import { serverSettings } from './server-settings.ts'
import { serverTools } from './server-tools.ts'

export interface AppOptions {
  readonly store: string
  readonly environment: Environment
  readonly invocation: string
  readonly workspace?: string
  readonly agentWrites: number
  readonly agentReads: number
  readonly maxRequests: number
  /** In megabytes. */
  readonly publicUrl?: URL
  readonly titles: 'on' | 'off'
}

export interface App {
  listen(port: number, host: string): Promise<URL>
  /** Behind a proxy this differs from the public URL. */
  localUrl(): URL
  /** A single-use code that signs a page in. */
  loginCode(): string
  /** Milliseconds since the last request, stream or running turn; 0 while one is active. */
  idleMs(): number
  close(): Promise<void>
}

type PageLink = (conversation: string, signedIn: boolean) => string

/** Delay before the MCP endpoint and the turn driver are preloaded; a request that needs them loads them sooner. */
const WARM_UP_MS = 3_000

/** Grace period for requests in progress; the process must exit within 5 s of a signal. */
const FINISH_MS = 3_000

/** The same relative path from `src/cli` and from `dist/cli`. */
const PAGE = join(ROOT, 'dist/web')

/** Wires the parts in dependency order. Live text and the page's URL are connected later. */
export function compose(door: Door, config: Config, options: AppOptions): App {
  const { log, models, settings, redact, tokens } = config
  const host = (): PolicyPatch => settings.policy
  // With PostgreSQL every node has its own data folder, so settings apply to one node.
  const scope = storeLocation(options.store) === 'folder' || options.store === 'memory' ? 'server' : 'node'
  const closing = new AbortController()
  const liveText = new EventEmitter<{ text: [Ref, LiveEntry] }>()
  const pageLink = Promise.withResolvers<PageLink>()

  const logged = (what: string): ((error: unknown) => void) => exceptStorage(error => log.error({ err: error }, what))
  const workFailed = logged('a turn or a check failed to run')
  const titler = new Titler({
    door,
    models,
    redact: config.redact,
    onError: exceptStorage(error => log.warn({ err: error }, 'a conversation could not be named')),
  })
  const mcpServers = openServers(config)
  const judge = claimJudge({
    door,
    redact,
    judge: async () => {
      const { modelJudge } = await import('../../engine/worker/model-judge.ts')
      return modelJudge(await models.assessorFor(models.defaultName), { redact })
    },
  })
  const worker = new Worker({
    door,
    models,
    outside: outsideTools(config, mcpServers),
    rules: () => settings.rules,
    redact,
    workspaces: config.workspaces,
    onText: (ref, text) => liveText.emit('text', ref, text),
    // A getter, because a person can change the judge at any time.
    get judge() {
      return config.workspaces.judges() ? judge : undefined
    },
    onError: workFailed,
    ...(options.titles === 'on' ? { onReleased: lease => titler.look(lease) } : {}),
  })
  const { webhook } = config
  const sender = webhook && webhookSender(door, webhook, log, (type, outcome) => metrics.delivered(type, outcome))
  let mcp: Promise<McpEndpoint> | undefined
  const openMcp = async (): Promise<McpEndpoint> => {
    const { createMcpEndpoint } = await import('../../server/mcp/http.ts')
    const { roundStateCodec } = await import('../../server/mcp/waiters.ts')
    return createMcpEndpoint({
      door,
      tenant: LOCAL_TENANT,
      version,
      nameOf: originNames(redact),
      host,
      codec: roundStateCodec(tokens.person),
      closing: closing.signal,
      pageUrl: async (conversation, signedIn) => (await pageLink.promise)(conversation, signedIn),
      onError: exceptStorage(error => log.warn({ err: error }, 'an MCP request failed')),
    })
  }
  const mcpEndpoint = (): Promise<McpEndpoint> => (mcp ??= openMcp())
  // With PostgreSQL every node has its own metrics.
  const metrics = new Metrics(door, { tenant: LOCAL_TENANT, others: storeLocation(options.store) === 'folder' })
  metrics.watchTurns(worker)
  if (sender) metrics.watchNotices()
  const server = createHttpServer({
    door,
    tenant: LOCAL_TENANT,
    version,
    host,
    tokens,
    log,
    redact,
    metrics,
    page: pageFrom(PAGE),
    settings: serverSettings({
      settings,
      models,
      redact,
      environment: options.environment,
      scope,
      onChanged: fields => log.info({ settings: fields }, 'a person changed settings'),
    }),
    tools: serverTools({
      servers: config.toolServers,
      mcp: mcpServers,
      settings,
      redact,
      scope,
      invocation: options.invocation,
      folder: options.workspace ?? process.cwd(),
      onChanged: (what, name) => log.info({ tools: what, server: name }, 'a person changed tools'),
    }),
    turns: {
      get names() {
        return models.names
      },
      get defaultName() {
        return models.defaultName
      },
      endpointOf: name => models.endpointOf(name),
      hasSandbox: name => name === DEMO && config.usesSandbox(),
      take: (ref, turn) => void worker.take(ref, turn).catch(workFailed),
    },
    mcp: async (request, incoming) => (await mcpEndpoint()).fetch(request, incoming),
    agentWritesPerMinute: options.agentWrites,
    agentReadsPerMinute: options.agentReads,
    maxRequests: options.maxRequests,
    ...(options.publicUrl ? { publicUrl: options.publicUrl } : {}),
  })
  liveText.on('text', (ref, text) => server.showText(ref, text))
  let warmUp: NodeJS.Timeout | undefined

  return {
    listen: async (port, host) => {
      const url = await server.listen(port, host)
      const code = (signedIn: boolean): string => (signedIn ? `#code=${server.loginCode()}` : '')
      pageLink.resolve((conversation, signedIn) => `${url.href}?chat=${conversation}${code(signedIn)}`)
      worker.start()
      // Start the MCP servers now, so that slow ones are ready for the first turn.
      mcpServers.states()
      sender?.start()
      warmUp = setTimeout(() => {
        Promise.all([mcpEndpoint(), importDrive()]).catch(logged('a part of the server could not be loaded'))
      }, WARM_UP_MS).unref()
      return url
    },
    localUrl: () => server.local(),
    loginCode: () => server.loginCode(),
    idleMs: () => {
      const { underWay, lastAt } = server.activity()
      // A pending review does not keep the server alive: opening it again starts a server.
      const works = worker.size + (sender?.size ?? 0)
      return underWay + works > 0 ? 0 : performance.now() - lastAt
    },
    close: async () => {
      closing.abort()
      clearTimeout(warmUp)
      await (await mcp)?.close()
      await Promise.all([server.close(FINISH_MS), worker.close(), titler.close(), sender?.close()])
      await door.close()
    },
  }
}

/** Logs the first failure, then nothing until a delivery succeeds. */
const webhookSender = (
  door: Door,
  settings: WebhookSettings,
  log: Config['log'],
  onOutcome: NonNullable<SenderOptions['onOutcome']>,
): WebhookSender =>
  new WebhookSender({
    door,
    tenant: LOCAL_TENANT,
    settings,
    version,
    onOutcome,
    onFailing: ({ code, message, status }) => log.error({ err: { code, reason: message, status } }, 'webhook failed'),
    onWorking: failures => log.warn({ failures }, 'webhook works again'),
    onError: exceptStorage(error => log.error({ err: error }, 'a webhook could not be sent')),
  })

function outsideTools({ sandbox, toolServers }: Config, servers: McpServers): OutsideTools {
  const live: OutsideTools = {
    list: () => {
      // A person may have added or removed servers since.
      servers.use(toolServers.all)
      return servers.list()
    },
    close: () => servers.close(),
  }
  if (sandbox === undefined) return live
  return joinedTools(onlyFor(DEMO, givenTools(sandboxTools(sandbox))), live)
}

const openServers = ({ toolServers, log, redact }: Config): McpServers =>
  new McpServers({
    servers: toolServers.all,
    version,
    onError: (name, error) => {
      log.warn({ err: error, server: name }, 'an MCP server is unavailable')
      const why = error instanceof Error ? error.message : String(error)
      console.error(redact.line(`MCP server ${name} is unavailable, its tools are skipped: ${why}`))
    },
  })
