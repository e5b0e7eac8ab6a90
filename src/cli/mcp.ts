import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { v7 } from 'uuid'
import { type Redactor, redactor } from '../domain/redact.ts'
import { secretsInUrl } from '../domain/secrets.ts'
import { isId } from '../domain/text.ts'
import { newToken } from '../http/credentials.ts'
import { ResourceUpdates } from '../mcp/resource-updates.ts'
import { roundStateCodec } from '../mcp/round-state.ts'
import { serveOverStdio } from '../mcp/stdio.ts'
import { openDoor } from '../door/door.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { toolsets } from '../toolsets/index.ts'
import type { ToolsetName } from '../domain/policy.ts'
import { CliError } from './cli-error.ts'
import { DataFolder } from './data-folder.ts'
import { checkStore, openStore } from './open-store.ts'
import { PageServer, type PageServerOptions } from './page-server.ts'
import { readSettings } from './settings.ts'
import { version } from './version.ts'

export interface McpCommand extends PageServerOptions {
  readonly data: string
  readonly toolset?: ToolsetName
  readonly review?: 'on' | 'off'
  readonly session?: string
}

/** The host lists the tools first; starting the page meanwhile would delay that. */
const PAGE_START_DELAY_MS = 250

/** Serves an MCP host over stdin and stdout until it disconnects. */
export async function serveMcp(options: McpCommand): Promise<void> {
  // Hosts run one server per session: a fixed young generation saves about 40 MB and costs no time.
  setFlagsFromString('--semi-space-growth-factor=1')
  const { session = `mcp-${v7()}` } = options
  checkStore(options.store)
  if (options.store === 'memory') {
    throw new CliError('mcp cannot use --store memory: the page is another process and could not see the plans.')
  }
  if (!isId(session)) throw new CliError('--session must be 1 to 128 letters, digits, - or _.')
  const redact = redactor({ known: [options.token ?? '', ...secretsInUrl(options.store)] })
  const printError = errorPrinter(redact)
  const data = resolve(options.data)
  const folder = new DataFolder(data)
  const { policy } = readSettings(options.config)
  const host = { ...policy, ...(options.review === undefined ? {} : { review: options.review === 'on' }) }
  const store = await openStore({ store: options.store, data })
  const door = openDoor({ store, onError: printError })
  const closing = new AbortController()
  const page = new PageServer(folder, options, line => console.error(redact.line(line)))
  const { policy: stored } = await door.read({ tenant: LOCAL_TENANT, conversation: session })
  const stdio = serveOverStdio({
    door,
    tenant: LOCAL_TENANT,
    version,
    host,
    onError: printError,
    codec: roundStateCodec(newToken()),
    updates: new ResourceUpdates(door, LOCAL_TENANT, printError),
    closing: closing.signal,
    pageUrl: (conversation, signedIn) => page.link(conversation, signedIn),
    toolset: toolsets[options.toolset ?? stored?.toolset ?? host.toolset ?? 'runsheet'],
    conversation: session,
  })
  setTimeout(() => void page.ready().catch(printError), PAGE_START_DELAY_MS)
  await hostDisconnected()
  closing.abort()
  await stdio.close()
  await door.close()
  // Handles that the host left open would keep the process alive.
  process.exit(0)
}

/** One short line: the message may contain client input. */
const errorPrinter =
  ({ line }: Redactor) =>
  (error: unknown): void => {
    const message = line(error instanceof Error ? error.message : String(error))
    console.error(`runsheet: ${message.slice(0, 200)}`)
  }

/** A host disconnects by closing our stdin, by no longer reading our stdout, or with a signal. */
function hostDisconnected(): Promise<void> {
  return new Promise(resolved => {
    process.stdin.once('end', resolved).once('close', resolved)
    process.stdout.once('error', resolved).once('close', resolved)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolved())
  })
}
