import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { UnknownModel } from '../agent/failure.ts'
import { mcpTools } from '../agent/mcp-tools.ts'
import { configuredModels, type Models } from '../agent/models.ts'
import { Runner } from '../agent/runner.ts'
import type { PolicyPatch } from '../domain/policy.ts'
import { pageFrom } from '../http/page.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import { Changed } from '../mcp/changed.ts'
import { roundCodec } from '../mcp/codec.ts'
import { createMcpEndpoint } from '../mcp/http.ts'
import { createRunsheet, type Runsheet } from '../runsheet.ts'
import { logCalls } from '../toolsets/observe.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { Complaint } from './complaint.ts'
import { DataFolder } from './folder.ts'
import { checkStore, nameOf, openStore, placeOf } from './open-store.ts'
import { readSettings } from './settings.ts'
import { self, version } from './version.ts'

export interface ServeOptions {
  readonly host: string
  readonly port: number
  readonly data: string
  readonly store: string
  readonly config: string
  readonly log: string
  readonly agentWrites: number
  readonly maxStreams: number
  readonly model: string
  readonly assessorModel?: string
  readonly modelUrl?: string
  readonly modelKey?: string
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly review?: 'on' | 'off'
  readonly idleExit?: number
  readonly publicUrl?: URL
  readonly token?: string
  readonly agentToken?: string
}

/** SIGTERM ends us within 5 s: what is under way gets most of that. */
const FINISH_MS = 3_000
const END_MS = 4_500
/** Whoever waits longer than this for the start is told what for. */
const SILENCE_MS = 1_000

/** Where the build puts it: the same place, seen from the source and from what is compiled. */
const PAGE = fileURLToPath(new URL('../../dist/web', import.meta.url))

/** Serves until a signal, or until nobody has been there for a while. */
export async function serve(options: ServeOptions): Promise<void> {
  checkStore(options.store)
  const folder = new DataFolder(options.data)
  const alone = folder.serveAlone()
  if ('other' in alone) {
    const where = alone.other ? ` at ${alone.other.url} (process ${alone.other.pid})` : ''
    throw new Complaint(`another server serves ${options.data} already${where}. For a link to it: ${self} url`)
  }
  const { policy, mcpServers } = readSettings(options.config)
  const models = modelsFor(options)
  const host: PolicyPatch = options.review === undefined ? policy : { ...policy, review: options.review === 'on' }
  const log = pino({ level: options.log }, pino.destination({ dest: 2, sync: true }))
  const tokens = folder.tokens({
    ...(options.token ? { person: options.token } : {}),
    ...(options.agentToken ? { agent: options.agentToken } : {}),
  })
  if (tokens.person === tokens.agent) throw new Complaint("a person's token and an agent's must differ.")

  const ended = untilToldToEnd()
  const store = await withNotice(`Opening ${nameOf(options.store)} …`, openStore(options))
  const runsheet = createRunsheet({
    store,
    onError: error => log.error({ err: error }, 'storage failed'),
    observe: logCalls(log),
  })
  const server = createHttpServer({
    runsheet,
    tokens,
    log,
    host,
    version,
    tenant: LOCAL_TENANT,
    page: pageFrom(PAGE),
    turns: { names: models.names, usual: models.usual, take: (ref, turn) => void runner.take(ref, turn).catch(noted) },
    agentWritesPerMinute: options.agentWrites,
    maxStreams: options.maxStreams,
    mcp: (request, incoming) => mcp.fetch(request, incoming),
    ...(options.publicUrl ? { publicUrl: options.publicUrl } : {}),
  })
  const noted = (error: unknown): void => log.error({ err: error }, 'a turn cannot be driven')
  const runner = new Runner({
    runsheet,
    models,
    onText: (ref, text) => server.showText(ref, text),
    onError: noted,
    outside: mcpTools({
      servers: mcpServers,
      version,
      onError: (name, error) => {
        log.warn({ err: error, server: name }, 'an MCP server cannot be used')
        console.error(`The MCP server ${name} cannot be used, and is left out: ${(error as Error).message}`)
      },
    }),
  })
  const ending = new AbortController()
  const mcp = createMcpEndpoint({
    runsheet,
    tenant: LOCAL_TENANT,
    version,
    host,
    onError: error => log.warn({ err: error }, 'an MCP request failed'),
    codec: roundCodec(tokens.person),
    changed: new Changed(runsheet, LOCAL_TENANT, error => log.error({ err: error }, 'storage failed')),
    closing: ending.signal,
    page: async (conversation, signedIn) =>
      `${url.href}?chat=${conversation}${signedIn ? `#code=${server.loginCode()}` : ''}`,
  })
  const url = await server.listen(options.port, options.host).catch(async (error: NodeJS.ErrnoException) => {
    await runsheet.close()
    throw cannotListen(error, options)
  })
  runner.start()
  alone.note({ url: url.href, local: server.local().href, pid: process.pid, store: placeOf(options.store) })
  console.log(`Runsheet is ready at ${url.href}#code=${server.loginCode()}`)
  console.log(
    `Data in ${options.data} (${nameOf(options.store)}).${options.agentToken ? '' : ` An agent's token is in ${join(options.data, 'agent-token')}.`}`,
  )
  console.log(`A fresh link: ${self} url. End with Ctrl-C.`)

  const why = await Promise.race([ended, idle(options.idleExit, () => runner.size > 0, server, runsheet)])
  console.error(why)
  const hard = setTimeout(() => process.exit(1), END_MS)
  ending.abort()
  await mcp.close()
  await Promise.all([server.close(FINISH_MS), runner.close()])
  await runsheet.close()
  clearTimeout(hard)
}

/** So that a person can follow what the demo model does. */
const DEMO_PACE_MS = 20

function modelsFor({ model, assessorModel, modelUrl, modelKey, environment = {} }: ServeOptions): Models {
  try {
    const given = { model, assessor: assessorModel, url: modelUrl, key: modelKey, environment }
    return configuredModels({ ...given, demoPaceMs: DEMO_PACE_MS })
  } catch (error) {
    if (error instanceof UnknownModel) throw new Complaint(error.message)
    throw error
  }
}

function cannotListen({ code, message }: NodeJS.ErrnoException, { host, port }: ServeOptions): Complaint {
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${host} is taken. Name another one with --port, or 0 for any that is free.`,
    EACCES: `port ${port} on ${host} is not ours to take. Name another one with --port.`,
    EADDRNOTAVAIL: `this machine has no address ${host}. Name another one with --host.`,
    ENOTFOUND: `this machine has no address ${host}. Name another one with --host.`,
  }
  return new Complaint(why[code ?? ''] ?? `cannot listen on ${host}:${port}: ${message}`)
}

async function withNotice<T>(notice: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => console.error(notice), SILENCE_MS)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

function untilToldToEnd(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => resolve('Ending: what is under way is finished first.'))
    }
  })
}

/** Nobody connected, nothing asked, and no review that waits for somebody to come back: for so long. */
function idle(
  ms: number | undefined,
  isBusy: () => boolean,
  server: HttpServer,
  { reviews }: Runsheet,
): Promise<string> {
  if (ms === undefined) return new Promise(() => {})
  return new Promise(resolve => {
    const look = async (): Promise<void> => {
      const { underWay, lastAt } = server.activity()
      const left = underWay > 0 || isBusy() ? ms : ms - (performance.now() - lastAt)
      if (left > 0) return again(left)
      const [waiting] = await reviews.waiting(LOCAL_TENANT, undefined, 1)
      if (waiting) return again(Math.max(1_000, Date.parse(waiting.expires_at) - Date.now()))
      resolve('Ending: nobody was here for a while.')
    }
    const again = (left: number): void => {
      // Whoever was told to end meanwhile does not wait for this.
      setTimeout(() => void look().catch(() => again(ms)), Math.min(left + 5, ms, 2 ** 31 - 1)).unref()
    }
    again(ms)
  })
}
