import { homedir } from 'node:os'
import { basename, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { v7 } from 'uuid'
import { originNames } from '../core/model/origin.ts'
import type { PolicyPatch, ToolsetName } from '../core/model/policy.ts'
import { learningRedactor } from '../core/text/redact.ts'
import { secretsInUrl } from '../core/text/secrets.ts'
import { policyOf, type FixedSettings } from '../core/model/settings.ts'
import { isId } from '../core/model/text.ts'
import { StoreError, exceptStorage, openDoor, type StorageReport } from '../engine/door/door.ts'
import { newToken } from '../server/http/access.ts'
import { conversationOf, toolsetOf } from '../server/mcp/binding.ts'
import { HostHooks } from '../server/mcp/hook-tool.ts'
import { roundStateCodec } from '../server/mcp/waiters.ts'
import { serveOverStdio } from '../server/mcp/server.ts'
import { Worker } from '../engine/worker/worker.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { toolsets } from '../engine/toolsets/index.ts'
import { CliError } from './cli-error.ts'
import { DataFolder, hookSecret } from './server/data-folder.ts'
import { notedSession, removeOldNotes } from './hook-event.ts'
import { serveHooks } from './server/hook-server.ts'
import { version } from './invocation.ts'
import { LateStore } from './server/late-store.ts'
import { checkStore, openWritableStore } from './server/open-store.ts'
import { PageServer, browserFor, type PageServerOptions } from './server/page-server.ts'
import { LiveSettings } from './server/page-settings.ts'
import { NONE, configFolder, readSettings } from './server/settings.ts'
import { workspacesFor } from './server/workspaces.ts'

export interface McpCommand extends PageServerOptions {
  readonly data: string
  readonly toolset?: ToolsetName
  readonly fixed: FixedSettings
  readonly session?: string
  readonly browser: 'on' | 'off'
  readonly workspace?: string
  readonly agentToken?: string
  /** Offers the tool that the host's hooks call. */
  readonly hooks?: true
  readonly gate: boolean
  readonly evidence: boolean
  readonly digest: boolean
}

const MAX_LINE = 300
/** The host lists the tools first; starting the page at once would delay that. */
const PAGE_START_DELAY_MS = 250

export async function serveMcp(options: McpCommand): Promise<void> {
  // Hosts run one server per session: a fixed young generation saves about 40 MB at no cost in time.
  setFlagsFromString('--semi-space-growth-factor=1')
  const { session, environment } = options
  checkStore(options.store)
  if (options.store === 'memory') {
    throw new CliError('mcp cannot use --store memory: the page is another process and could not see the plans.')
  }
  if (session !== undefined && !isId(session)) throw new CliError('--session must be 1 to 128 letters, digits, - or _.')
  const redact = learningRedactor({
    known: [options.token ?? '', options.agentToken ?? '', ...secretsInUrl(options.store).known],
  })
  const print = (text: string): void => console.error(`runsheet: ${redact.line(text).slice(0, MAX_LINE)}`)
  const printError = exceptStorage(errorPrinter(print))
  const data = resolve(options.data)
  const settings = orFailure(() => readSettings(options, line => console.error(line)))
  const { policy, checks } = settings instanceof CliError ? NONE : settings
  const judges = (): boolean => hasJudge(page)
  const workspaces = workspacesFor({ ...options, data, judges }, checks, redact)
  const nameRoots = (roots: readonly string[]): void => workspaces.name([...roots, ...projectOf(options)])
  try {
    nameRoots([])
  } catch (error) {
    // Run without checks rather than fail to start.
    printError(error)
  }
  const { fixed } = options
  const given = policyOf({ fixed, saved: {}, file: policy, variables: {} })
  let folder: DataFolder | undefined
  let live: LiveSettings | undefined
  const host = (): PolicyPatch => live?.policy ?? given
  const store = new LateStore(async () => {
    if (settings instanceof CliError) throw new CliError(`${settings.message} Then restart the host.`)
    const usable = new DataFolder(data, environment)
    const found = new LiveSettings({ folder: configFolder(environment), fixed, file: policy, environment, redact })
    const opened = await openWritableStore({ store: options.store, data })
    for (const line of usable.warnings) console.error(line)
    folder = usable
    live = found
    return opened
  })
  // A host may refuse to start without its server, so serve even while storage cannot be opened.
  const problem = await store.tryOpen()
  if (problem !== undefined) console.error(`runsheet: ${redact.line(problem)}`)
  const door = openDoor({ store, onError: printError, checks: workspaces })
  door.observeStorage(report => {
    if (store.isOpen) print(describe(report))
  })
  const closing = new AbortController()
  const tokens = { path: data, personToken: () => folder?.personToken() }
  const page = new PageServer(tokens, options, line => console.error(redact.line(line)))
  const conversation = `mcp-${v7()}`
  const hooks = options.hooks ? new HostHooks({ features: options, redact, noted: notedSession(data) }) : undefined
  const known = conversationOf(undefined, { session, environment, own: () => conversation })
  const own = { tenant: LOCAL_TENANT, conversation: known }
  const toolset = options.toolset
    ? toolsets[options.toolset]
    : await toolsetOf(own, { door, host }).catch(exceptFailure(toolsets[host().toolset ?? 'runsheet']))
  const worker = new Worker({ door, workspaces, onError: printError })
  const stdio = serveOverStdio({
    door,
    onRoots: nameRoots,
    tenant: LOCAL_TENANT,
    version,
    nameOf: originNames(redact),
    host,
    onError: printError,
    codec: roundStateCodec(newToken()),
    closing: closing.signal,
    pageUrl: (conversation, signedIn) => page.link(conversation, signedIn),
    toolset,
    conversation,
    session,
    environment,
    hooks,
    secret: () => hookSecret(data),
    folder: folderName(process.cwd()),
    openBrowser: options.browser === 'on' ? browserFor(environment) : undefined,
  })
  let stopHooks: (() => void) | undefined
  void store.opened.then(() => {
    worker.start()
    if (hooks) removeOldNotes(data)
    stopHooks = hooks && serveHooks({ data, door, redact, session, onError: printError })
    setTimeout(() => void page.ready().catch(printError), PAGE_START_DELAY_MS)
  })
  await hostDisconnected()
  stopHooks?.()
  closing.abort()
  await Promise.all([stdio.close(), worker.close()])
  await door.close()
  // Handles that the host left open would keep the process alive.
  process.exit(store.isOpen ? 0 : 1)
}

function orFailure<T>(work: () => T): T | CliError {
  try {
    return work()
  } catch (error) {
    if (error instanceof CliError) return error
    throw error
  }
}

const exceptFailure =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof StoreError) return value
    throw error
  }

/** The folder of a host with hooks. Checks run there unless the client names a root. */
function projectOf({ hooks, workspace }: McpCommand): readonly string[] {
  const folder = process.cwd()
  return hooks && workspace === undefined && folderName(folder) !== undefined ? [folder] : []
}

/** False if the folder is gone: storage reports that. */
function hasJudge(page: PageServer): boolean {
  try {
    return page.judges()
  } catch {
    return false
  }
}

/** Undefined for / and the home folder, where desktop hosts start servers. */
const folderName = (folder: string): string | undefined =>
  folder === homedir() || basename(folder) === '' ? undefined : basename(folder)

/** Prints each error once, on one short line, because its message may contain client input. */
function errorPrinter(print: (text: string) => void): (error: unknown) => void {
  const printed = new WeakSet<Error>()
  return error => {
    if (error instanceof Error) {
      if (printed.has(error)) return
      printed.add(error)
    }
    print(error instanceof Error ? error.message : String(error))
  }
}

function describe(report: StorageReport): string {
  if (report.kind === 'recovered') return 'Storage works again.'
  const { message, detail } = report.error
  return `${report.file ?? 'storage'}: ${message}${detail === undefined ? '' : ` (${detail})`}`
}

/** A host disconnects by closing our stdin, by closing our stdout, or with a signal. */
function hostDisconnected(): Promise<void> {
  return new Promise(resolved => {
    process.stdin.once('end', resolved).once('close', resolved)
    process.stdout.once('error', resolved).once('close', resolved)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolved())
  })
}
