import { existsSync } from 'node:fs'
import { visible } from '../core/text/plain-text.ts'
import type { Host, Place, StartedServer } from '../hosts/host.ts'
import { HOSTS, HOST_NAMES, type HostName } from '../hosts/hosts.ts'
import { CliError } from './cli-error.ts'
import { pageEnvironment, type Environment } from './environment.ts'
import { serveCommand, setupCommand, shellWord, urlCommand, version } from './invocation.ts'
import { ServerLock } from './server/server-lock.ts'
import { added, allHosts, dataFolderOf, placeOf, serverAt } from './setup-hosts.ts'

interface DoctorOptions {
  readonly host?: HostName
  readonly cwd: string
  readonly environment: Environment
  readonly invocation: string
}

/** A finding with a `todo` is a problem. */
interface Finding {
  readonly text: string
  readonly todo?: string
  readonly isNote?: boolean
}

const SERVER_ANSWER_MS = 20_000
const PAGE_ANSWER_MS = 3_000

/** Prints what works and what does not, host by host; resolves with whether all is well. */
export async function examine(options: DoctorOptions): Promise<boolean> {
  const { cwd, environment, invocation } = options
  const hosts = allHosts()
  let [count, isWell] = [0, true]
  for (const name of options.host ? [options.host] : HOST_NAMES) {
    const paths = new Set<string>()
    for (const scope of ['user', 'project'] as const) {
      const place = placeOf(scope, cwd, environment)
      for await (const { text, todo, isNote } of findings(hosts[name], place, paths, options)) {
        count += 1
        isWell &&= todo === undefined
        console.log(visible(`  ${todo ? 'WRONG' : isNote ? 'note ' : 'ok   '}  ${text}`))
        if (todo) for (const line of todo.split('\n')) console.log(visible(`         ${line}.`))
      }
    }
    if (paths.size < 2) continue
    isWell = false
    console.log(`  WRONG  ${HOSTS[name].label} is set up in both scopes, and hooks run twice`)
    console.log(`         Take one of them out: ${setupCommand(invocation, name, 'project')} --remove.`)
  }
  if (count > 0) return isWell
  const command = setupCommand(invocation, options.host ?? 'HOST', 'user')
  throw new CliError(
    `Runsheet is not set up ${options.host ? `for ${options.host}` : 'for any host'}. To do so: ${command}`,
  )
}

/** Adds the path of the entry to `paths`. In a home folder both scopes may name the same file. */
async function* findings(
  host: Host,
  place: Place,
  paths: Set<string>,
  { cwd, invocation, environment }: DoctorOptions,
): AsyncGenerator<Finding> {
  const setup = setupCommand(invocation, host.name, place.scope)
  const { label } = HOSTS[host.name]
  try {
    const found = serverAt(host, place)
    if (!found || paths.has(found.path)) return
    paths.add(found.path)
    console.log(visible(`${label} (${place.scope} scope): ${found.path}`))
    const { server } = found
    const { installation } = server ?? {}
    if (!server || !installation) {
      return yield { text: 'the entry does not start `runsheet mcp`', todo: `Write it anew: ${setup}` }
    }
    const tried = host.tried === undefined ? 'not tried; written as its documentation says' : `tried with ${host.tried}`
    yield { text: `${label}: ${tried}`, isNote: true }
    for (const note of host.notes(place, installation)) yield { text: note, isNote: true }
    if (!server.isEnabled) yield { text: `the server is switched off in ${label}`, todo: 'Switch it on there' }
    for (const settings of host.settings(place, installation)) {
      const { path, before, after } = added(settings)
      if (before === after) yield { text: `${path} is as setup writes it` }
      else yield { text: `${path} is not as setup writes it`, todo: `See what differs, and write it anew: ${setup}` }
    }
    yield* startedServer(server, setup, environment)
    yield await page(dataFolderOf(installation.data, cwd), invocation)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    console.log(`${label} (${place.scope} scope):`)
    yield { text: error.message, todo: 'Correct the file' }
  }
}

/** Starts the server as the host would, and passes on what it says about itself. */
async function* startedServer(server: StartedServer, setup: string, environment: Environment): AsyncGenerator<Finding> {
  const { Client } = await import('@modelcontextprotocol/client')
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const [command, ...args] = server.words
  const env = { ...pageEnvironment(environment), ...server.env }
  const transport = new StdioClientTransport({ command, args, env, stderr: 'pipe' })
  let stderr = ''
  transport.stderr?.on('data', chunk => (stderr = `${stderr}${String(chunk)}`.slice(-4_000)))
  const client = new Client({ name: 'runsheet-doctor', version })
  const started = performance.now()
  const todo = `Try it: ${server.words.map(shellWord).join(' ')}\nIf the program was moved, write the entry anew: ${setup}`
  try {
    await client.connect(transport, { timeout: SERVER_ANSWER_MS })
    const { tools } = await client.listTools(undefined, { timeout: SERVER_ANSWER_MS })
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    const found = client.getServerVersion()?.version
    const other = found === version ? '' : ` (this is ${version})`
    const names = tools.map(({ name }) => name).join(', ')
    yield {
      text: `the server, version ${found}${other}, answers in ${seconds} s, with ${tools.length} tools: ${names}`,
    }
  } catch (error) {
    const why = stderr.trim().split('\n').at(-1) || (error as Error).message
    return yield { text: `the server does not start: ${why}`, todo }
  } finally {
    await client.close().catch(() => {})
  }
  // The server also answers while it cannot open its storage.
  for (const [, problem = ''] of stderr.matchAll(/^runsheet: (.+)$/gm)) yield { text: problem, todo }
  for (const [, note = ''] of stderr.matchAll(/^Runsheet: (?!review plans)(.+)$/gm)) yield { text: note, isNote: true }
}

async function page(data: string, invocation: string): Promise<Finding> {
  const serving = existsSync(data) ? ServerLock.serving(data) : undefined
  if (typeof serving !== 'object') return { text: 'the page does not run; it starts with the host', isNote: true }
  const { url, local, pid } = serving
  const isUp = await fetch(new URL('/readyz', local), { signal: AbortSignal.timeout(PAGE_ANSWER_MS) }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (isUp) return { text: `data folder ${data}, page ${url} (for a sign-in link: ${urlCommand(invocation, data)})` }
  return {
    text: `the page does not answer at ${local}`,
    todo: `End process ${pid}, then: ${serveCommand(invocation, data)}`,
  }
}
