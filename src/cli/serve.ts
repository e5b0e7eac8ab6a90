import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openDoor } from '../engine/door/door.ts'
import { logCalls } from '../engine/toolsets/observe.ts'
import { CliError } from './cli-error.ts'
import type { App, AppOptions } from './server/compose.ts'
import { type ConfigOptions, configure } from './configure.ts'
import { DataFolder } from './server/data-folder.ts'
import { urlCommand } from './invocation.ts'
import { checkStore, openWritableStore, storeLabel, storeLocation, type StoreOptions } from './server/open-store.ts'
import { ServerLock, type Serving } from './server/server-lock.ts'

export interface ServeOptions extends StoreOptions, ConfigOptions, AppOptions {
  readonly host: string
  readonly port: number
  readonly idleExit?: number
}

/** The process must exit within 5 s of a signal. */
const EXIT_TIMEOUT_MS = 4_500
/** A slower start prints what it waits for. */
const QUIET_START_MS = 1_000

export async function serve(options: ServeOptions): Promise<void> {
  const { host, port, data, store, idleExit, environment } = options
  checkStore(store)
  const folder = new DataFolder(data, environment)
  const lock = await ServerLock.take(data)
  if (!(lock instanceof ServerLock)) throw alreadyServed(options, lock)
  process.once('exit', () => lock.release())
  const stopped = signalled()

  const config = await configure(folder, options)
  if (config.webhook && store === 'memory')
    throw new CliError('a webhook cannot use --store memory: it keeps no notices.')
  const onError = (error: unknown): void => config.log.error({ err: error }, 'background work failed')
  const opened = await withNotice(`Opening ${storeLabel(store)} …`, openWritableStore(options))
  const door = openDoor({ store: opened, onError, observe: logCalls(config.log), checks: config.workspaces })
  // Last, because it loads the most: a refused start should not wait for it.
  const { compose } = await import('./server/compose.ts')
  const app = compose(door, config, options)
  const url = await app.listen(port, host).catch(async (error: NodeJS.ErrnoException) => {
    await app.close()
    throw cannotListen(error, options)
  })
  try {
    const note = { url: url.href, local: app.localUrl().href, pid: process.pid, store: storeLocation(store) }
    const announce = (): void => lock.announce({ ...note, ...(config.workspaces.judges() ? { judges: true } : {}) })
    announce()
    config.settings.onChange(() => {
      try {
        announce()
      } catch (error) {
        onError(error)
      }
    })
  } catch (error) {
    await app.close()
    throw error
  }
  for (const line of folder.warnings) console.error(line)
  printReady({ ...options, sandbox: config.workspaces.own && config.sandbox }, `${url.href}#code=${app.loginCode()}`)

  const reasons = [stopped, replaced(lock), ...(idleExit === undefined ? [] : [idleFor(idleExit, app)])]
  console.error(await Promise.race(reasons))
  const forced = setTimeout(() => process.exit(1), EXIT_TIMEOUT_MS)
  await app.close()
  clearTimeout(forced)
}

async function withNotice<T>(notice: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => console.error(notice), QUIET_START_MS)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

function alreadyServed({ data, invocation }: ServeOptions, other: Serving): CliError {
  if (typeof other !== 'object') return new CliError(`another server for ${data} is starting or stopping.`)
  const { url, pid } = other
  const command = urlCommand(invocation, data)
  return new CliError(`${data} is already served at ${url} (process ${pid}). For a sign-in link: ${command}`)
}

function cannotListen({ code, message }: NodeJS.ErrnoException, { host, port }: ServeOptions): CliError {
  const noAddress = `this machine has no address ${host}. Choose another with --host.`
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${host} is in use. Choose another with --port, or 0 for any free port.`,
    EACCES: `no permission to listen on port ${port} of ${host}. Choose another with --port.`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
  }
  return new CliError(why[code ?? ''] ?? `cannot listen on ${host}:${port}: ${message}`)
}

interface ReadyOptions extends ServeOptions {
  readonly sandbox: string | undefined
}

/** Scripts wait for the first line. */
function printReady(options: ReadyOptions, link: string): void {
  const { data, store, token, agentToken, invocation } = options
  const agents = agentToken ? 'in RUNSHEET_AGENT_TOKEN' : join(data, 'agent-token')
  const sameToken = token ? ', with the same RUNSHEET_TOKEN' : ''
  console.log(`Runsheet is ready at ${link}`)
  console.log(`Plans: ${data} (${storeLabel(store)}). Token for agents: ${agents}`)
  console.log(checksLine(options))
  console.log(`Stop: Ctrl-C. New sign-in link${sameToken}: ${urlCommand(invocation, data)}`)
}

function checksLine({ workspace, sandbox }: ReadyOptions): string {
  if (workspace !== undefined) return `Checks run in ${workspace}`
  const how = 'For your own project: --workspace DIR'
  return sandbox === undefined ? `Checks: none. ${how}` : `Checks of the demo run in ${sandbox}. ${how}`
}

/** Resolves on SIGINT or SIGTERM. Ignores repeats: on Ctrl-C npm sends a second SIGINT. */
function signalled(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => resolve('Stopping: finishing requests in progress.'))
    }
  })
}

async function replaced(lock: ServerLock): Promise<string> {
  await lock.lost()
  return 'Stopping: server.lock was deleted, and another server has taken the data folder.'
}

const MAX_TIMER_MS = 2 ** 31 - 1

async function idleFor(ms: number, app: App): Promise<string> {
  for (let left = ms; left > 0; left = ms - app.idleMs()) {
    await delay(Math.min(left + 5, MAX_TIMER_MS), undefined, { ref: false })
  }
  return 'Stopping: no requests, streams or running turns for a while.'
}
