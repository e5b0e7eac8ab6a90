import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { v7 } from 'uuid'
import { isId } from '../domain/text.ts'
import { newToken } from '../http/credentials.ts'
import { Changed } from '../mcp/changed.ts'
import { roundCodec } from '../mcp/codec.ts'
import { serveOverStdio } from '../mcp/stdio.ts'
import { createRunsheet } from '../runsheet.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { toolsets } from '../toolsets/index.ts'
import type { Toolset as ToolsetName } from '../domain/policy.ts'
import { Complaint } from './complaint.ts'
import { DataFolder } from './folder.ts'
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

/** Serves the host at our standard input until that ends. Its model's plans are shown and decided on the page of the same data folder. */
export async function serveMcp(options: McpCommand): Promise<void> {
  // Hosts run one server per session: a young generation that does not grow saves about 40 MB, at no cost in time.
  setFlagsFromString('--semi-space-growth-factor=1')
  const { session = `mcp-${v7()}` } = options
  checkStore(options.store)
  if (options.store === 'memory') throw new Complaint('--store memory has no page: nobody else could see the plan.')
  if (!isId(session)) throw new Complaint('--session must be 1 to 128 letters, digits, - or _.')
  const data = resolve(options.data)
  const folder = new DataFolder(data)
  const { policy } = readSettings(options.config)
  const host = { ...policy, ...(options.review === undefined ? {} : { review: options.review === 'on' }) }
  // One line for each: what a client sends may be of any length.
  const onError = (error: unknown): void =>
    console.error(`runsheet: ${messageOf(error).replaceAll(/\s+/g, ' ').slice(0, 200)}`)
  const store = await openStore({ store: options.store, data })
  const runsheet = createRunsheet({ store, onError })
  const ending = new AbortController()
  const pages = new PageServer(folder, options, line => console.error(line))
  const kept = (await runsheet.read({ tenant: LOCAL_TENANT, conversation: session })).policy?.toolset
  const stdio = serveOverStdio({
    runsheet,
    tenant: LOCAL_TENANT,
    version,
    host,
    onError,
    codec: roundCodec(newToken()),
    changed: new Changed(runsheet, LOCAL_TENANT, onError),
    closing: ending.signal,
    page: (conversation, signedIn) => pages.link(conversation, signedIn),
    toolset: toolsets[options.toolset ?? kept ?? host.toolset ?? 'runsheet'],
    conversation: session,
  })
  // The host waits for its list of tools first.
  setTimeout(() => void pages.ready().catch(onError), PAGE_AFTER_MS)
  await hungUp()
  ending.abort()
  await stdio.close()
  await runsheet.close()
  // What the host left open must not keep us.
  process.exit(0)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** How long after our start the page is looked for. */
const PAGE_AFTER_MS = 250

/** The host ends us by closing our input, or by a signal. One that does not read us any more is gone, too. */
function hungUp(): Promise<void> {
  return new Promise(resolved => {
    process.stdin.once('end', resolved).once('close', resolved)
    process.stdout.once('error', resolved).once('close', resolved)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolved())
  })
}
