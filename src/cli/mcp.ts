import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { v7 } from 'uuid'
import { originNames } from '../domain/origin.ts'
import { learningRedactor } from '../domain/redact.ts'
import { secretsInUrl } from '../domain/secrets.ts'
import type { FixedSettings } from '../domain/settings.ts'
import { isId } from '../domain/text.ts'
import { newToken } from '../http/credentials.ts'
import { conversationOf } from '../mcp/binding.ts'
import { HostHooks } from '../mcp/host-hooks.ts'
import { ResourceUpdates } from '../mcp/resource-updates.ts'
import { roundStateCodec } from '../mcp/round-state.ts'
import { serveOverStdio } from '../mcp/stdio.ts'
import { toolsetOf } from '../mcp/toolset-of.ts'
import { exceptStorage, openDoor, type StorageReport } from '../door/door.ts'
import { CheckRunner } from '../runner/check-runner.ts'
import { readRegularFile } from '../store/private-file.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { toolsets } from '../toolsets/index.ts'
import type { PolicyPatch, ToolsetName } from '../domain/policy.ts'
import { browserFor } from './browser.ts'
import { CallReporter } from './call-reporter.ts'
import { CliError } from './cli-error.ts'
import { DataFolder } from './data-folder.ts'
import { serveHooks } from './hook-server.ts'
import { notedSession, removeOldNotes } from './host-notes.ts'
import { LiveSettings } from './live-settings.ts'
import { checkStore, openWritableStore, storeLocation } from './open-store.ts'
import { PageServer, type PageServerOptions } from './page-server.ts'
import { readSettings } from './settings.ts'
import { workspacesFor } from './workspaces.ts'
import { version } from './version.ts'

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

/** Longest line on stderr. */
const MAX_LINE = 300
/** How long the last report may delay the exit. */
const LAST_REPORT_MS = 3_000
/** The host lists the tools first; starting the page meanwhile would delay that. */
const PAGE_START_DELAY_MS = 250

/** Serves an MCP host over stdin and stdout until it disconnects. */
export async function serveMcp(options: McpCommand): Promise<void> {
  // Hosts run one server per session: a fixed young generation saves about 40 MB and costs no time.
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
  const folder = new DataFolder(data, environment)
  const { policy, checks } = readSettings(options, line => console.error(line))
  const judges = (): boolean => hasJudge(page)
  const workspaces = workspacesFor({ ...options, data, judges }, checks, redact)
  const nameRoots = (roots: readonly string[]): void => workspaces.name([...roots, ...projectOf(options)])
  try {
    nameRoots([])
  } catch (error) {
    // Without checks rather than without a server.
    printError(error)
  }
  // The server may have a token that we are not given.
  const secret = options.token ?? folder.personToken() ?? ''
  const { fixed } = options
  const settings = new LiveSettings({ data, fixed, file: policy, environment, redact, secret, role: 'follower' })
  const host = (): PolicyPatch => settings.policy
  const store = await openWritableStore({ store: options.store, data })
  for (const line of folder.warnings) console.error(line)
  const door = openDoor({ store, onError: printError, checks: workspaces })
  door.observeStorage(report => print(describe(report)))
  const closing = new AbortController()
  const page = new PageServer(folder, options, line => console.error(redact.line(line)))
  const reporter = new CallReporter(() => {
    const { local: url } = page.running() ?? {}
    const token = options.agentToken ?? folder.agentToken()
    return url === undefined || token === undefined ? undefined : { url, token }
  })
  // The server of a folder counts what is stored there by itself; on PostgreSQL each node counts its own commits.
  const isCounted = storeLocation(options.store) === 'folder'
  door.observe(call => {
    if (!call.stored || !isCounted) reporter.add(call)
  })
  const conversation = `mcp-${v7()}`
  const hooks = options.hooks ? new HostHooks({ features: options, redact, noted: notedSession(data) }) : undefined
  if (hooks) removeOldNotes(data)
  const known = conversationOf(undefined, { session, environment, own: () => conversation })
  const own = { tenant: LOCAL_TENANT, conversation: known }
  const toolset = options.toolset
    ? toolsets[options.toolset]
    : await toolsetOf(own, { door, host, onError: printError })
  const runner = new CheckRunner({ door, workspaces, onError: printError })
  runner.start()
  const stdio = serveOverStdio({
    door,
    onRoots: nameRoots,
    tenant: LOCAL_TENANT,
    version,
    nameOf: originNames(redact),
    host,
    onError: printError,
    codec: roundStateCodec(newToken()),
    updates: new ResourceUpdates(door, LOCAL_TENANT, printError),
    closing: closing.signal,
    pageUrl: (conversation, signedIn) => page.link(conversation, signedIn),
    toolset,
    conversation,
    session,
    environment,
    hooks,
    secret: () => readSecret(join(data, OPENCODE_SECRET)),
    folder: folderName(process.cwd()),
    openBrowser: options.browser === 'on' ? browserFor(environment) : undefined,
  })
  const stopHooks = hooks && serveHooks({ data, door, redact, session, onError: printError })
  setTimeout(() => void page.ready().catch(printError), PAGE_START_DELAY_MS)
  await hostDisconnected()
  stopHooks?.()
  closing.abort()
  await Promise.all([stdio.close(), runner.close()])
  await reporter.flush(LAST_REPORT_MS)
  await door.close()
  // Handles that the host left open would keep the process alive.
  process.exit(0)
}

/** The folder that a host with hooks works in: there the checks of tasks run, unless the client names a root. */
function projectOf({ hooks, workspace }: McpCommand): readonly string[] {
  const folder = process.cwd()
  return hooks && workspace === undefined && folderName(folder) !== undefined ? [folder] : []
}

/** What OpenCode's plugin signs chats with; `runsheet setup` makes it. */
const OPENCODE_SECRET = 'opencode-secret'
const MAX_SECRET_BYTES = 1_024

/** Undefined if there is none. */
function readSecret(file: string): string | undefined {
  try {
    const secret = readRegularFile(file, { maxBytes: MAX_SECRET_BYTES, follow: false }).toString('utf8').trim()
    return secret === '' ? undefined : secret
  } catch {
    return undefined
  }
}

/** Whether the server of this folder has a judge. None, if the folder is gone: storage says so. */
function hasJudge(page: PageServer): boolean {
  try {
    return page.running()?.judges ?? false
  } catch {
    return false
  }
}

/** The folder that the host works in. Desktop hosts start servers in / or the home folder, which says nothing. */
const folderName = (folder: string): string | undefined =>
  folder === homedir() || basename(folder) === '' ? undefined : basename(folder)

/** Prints an error on one short line: its message may contain client input. The same error is printed once. */
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

/** A host disconnects by closing our stdin, by no longer reading our stdout, or with a signal. */
function hostDisconnected(): Promise<void> {
  return new Promise(resolved => {
    process.stdin.once('end', resolved).once('close', resolved)
    process.stdout.once('error', resolved).once('close', resolved)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolved())
  })
}
