import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { visible } from '../core/text/visible.ts'
import { HOST_NAMES, type HostName, HOSTS } from '../hosts/hosts.ts'
import { type HookGroup, hookWords } from '../hosts/hooks.ts'
import type { Host, Installation, Place, PlacedHook, Scope } from '../hosts/host.ts'
import { startedBy, type StartedServer } from '../hosts/server-entry.ts'
import {
  callHooks,
  dataOf,
  type OwnFile,
  ownHooks,
  placesOfHooks,
  type SettingsFile,
  valueAt,
} from '../hosts/settings.ts'
import { isWritable } from '../store/folder.ts'
import { CliError } from './cli-error.ts'
import { exposedLines, fixedPort, refuseTracked } from './server/data-folder.ts'
import { type Environment, pageEnvironment } from './environment.ts'
import { installCommand, serveCommand, setupCommand, shellWord, urlCommand, version } from './invocation.ts'
import { SettingsOnDisk, UnusableSettings } from './server/page-settings.ts'
import { ServerLock } from './server/server-lock.ts'
import { configFolder } from './server/settings.ts'
import { readSettingsText } from './setup-files.ts'
import {
  allHosts,
  dataFolderOf,
  hasHooks,
  inFile,
  placeOf,
  readSecret,
  secretFile,
  serverEntry,
} from './setup-hosts.ts'

interface DoctorOptions {
  readonly host?: HostName
  readonly cwd: string
  readonly environment: Environment
  readonly invocation: string
}

type Finding =
  | { readonly kind: 'well' | 'note'; readonly text: string }
  | { readonly kind: 'wrong'; readonly text: string; readonly todo: string }

interface Patient {
  readonly host: Host
  readonly place: Place
  readonly server: StartedServer
  readonly installation: Installation
  readonly data: string
  readonly environment: Environment
  readonly invocation: string
  readonly setup: string
}

const SCOPES: readonly Scope[] = ['user', 'project']

export async function examine(options: DoctorOptions): Promise<boolean> {
  const names = options.host ? [options.host] : HOST_NAMES
  let [count, isWell] = [0, true]
  const tell = (finding: Finding): void => {
    print(finding)
    isWell &&= finding.kind !== 'wrong'
  }
  for (const name of names) {
    const found = entriesOf(name, options)
    count += found.length
    for (const { host, place, path, entry } of found) {
      console.log(visible(`${HOSTS[host.name].label} (${place.scope} scope): ${path}`))
      if (entry instanceof CliError) tell({ kind: 'wrong', text: entry.message, todo: 'Mend the file' })
      else if (entry === undefined) tell(withoutServer(host, place, options))
      else for await (const finding of findings(host, place, entry, options)) tell(finding)
    }
    if (found.length < 2) continue
    const todo = `Take one of them out: ${setupCommand(options.invocation, name, 'project')} --remove`
    tell({ kind: 'wrong', text: 'both scopes are set up, and hooks would run twice', todo })
  }
  if (count > 0) return isWell
  const command = setupCommand(options.invocation, options.host ?? 'HOST', 'user')
  throw new CliError(
    `Runsheet is not set up ${options.host ? `for ${options.host}` : 'for any host'}. To do so: ${command}`,
  )
}

interface Found {
  readonly host: Host
  readonly place: Place
  readonly path: string
  /** An error if it cannot be read. Undefined: no entry, but hooks of ours exist. */
  readonly entry: Readonly<Record<string, unknown>> | CliError | undefined
}

/** In a home folder both scopes may name the same file. */
function entriesOf(name: HostName, options: DoctorOptions): readonly Found[] {
  const all = SCOPES.flatMap(scope => entryOf(name, scope, options))
  return all.filter(({ path }, index) => all.findIndex(each => each.path === path) === index)
}

function entryOf(name: HostName, scope: Scope, { cwd, environment }: DoctorOptions): readonly Found[] {
  const host = allHosts()[name]
  const place = placeOf(scope, cwd, environment)
  const files = host.settings(place, { program: ['runsheet'], data: undefined, features: [] })
  const [settings] = files
  if (!settings) return []
  try {
    const entry = serverEntry(host, settings)
    return entry || files.some(hasHooks) ? [{ host, place, path: settings.path, entry }] : []
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return [{ host, place, path: settings.path, entry: error }]
  }
}

function withoutServer(host: Host, { scope }: Place, { invocation }: DoctorOptions): Finding {
  const setup = setupCommand(invocation, host.name, scope)
  const todo = `Write it anew: ${setup}. Or take the hooks out: ${setup} --remove`
  return { kind: 'wrong', text: 'the entry of the server is gone, but there are hooks', todo }
}

async function* findings(
  host: Host,
  place: Place,
  entry: Readonly<Record<string, unknown>>,
  { cwd, environment, invocation }: DoctorOptions,
): AsyncGenerator<Finding> {
  const setup = setupCommand(invocation, host.name, place.scope)
  const server = startedBy(entry)
  const installation = server?.installation
  if (!server || !installation) {
    yield { kind: 'wrong', text: 'the entry does not start `runsheet mcp`', todo: `Write it anew: ${setup}` }
    return
  }
  if (!server.isEnabled) {
    yield { kind: 'wrong', text: `the server is switched off in ${HOSTS[host.name].label}`, todo: 'Switch it on there' }
  }
  const data = dataFolderOf(installation.data, cwd)
  const patient = { host, place, server, installation, data, environment, invocation, setup }
  yield* checkHost(patient)
  yield* checkTrust(patient)
  const program = await checkProgram(patient)
  yield program
  const canRun = program.kind !== 'wrong'
  if (canRun) yield* checkServer(patient)
  yield* checkHooks(patient, canRun)
  yield* checkData(patient)
  yield* checkSettings(patient)
  yield* checkPage(patient)
}

/** A host that has not asked yet will ask. */
function* checkTrust({ host, place }: Patient): Generator<Finding> {
  const distrust = host.distrust?.(place)
  if (!distrust) return
  const { isDecided, text, todo } = distrust
  yield isDecided ? { kind: 'wrong', text, todo } : { kind: 'note', text: `${text}. ${todo}` }
}

const LABEL = { well: 'ok   ', note: 'note ', wrong: 'WRONG' } as const

function print(finding: Finding): void {
  console.log(visible(`  ${LABEL[finding.kind]}  ${finding.text}`))
  if (finding.kind === 'wrong') console.log(visible(`         ${finding.todo}.`))
}

const PAGE_ANSWER_MS = 3_000

function* checkData({ data, environment, setup }: Patient): Generator<Finding> {
  if (!existsSync(data))
    return yield { kind: 'wrong', text: `there is no data folder ${data}`, todo: `Make it: ${setup}` }
  try {
    refuseTracked(data, environment)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return yield { kind: 'wrong', text: error.message.replace(/\.$/, ''), todo: 'Do one of these' }
  }
  const [exposed] = exposedLines(data)
  const [what, how] = exposed?.split('. Run: ') ?? []
  if (what && how) yield { kind: 'wrong', text: what.replace(/^Runsheet: /, ''), todo: `Run: ${how}` }
  else if (isWritable(data)) yield { kind: 'well', text: `data folder ${data}` }
  else
    yield {
      kind: 'wrong',
      text: `${data} is not writable`,
      todo: 'Make it writable for you, or choose another with --data',
    }
}

function* checkSettings({ environment }: Patient): Generator<Finding> {
  const disk = new SettingsOnDisk(configFolder(environment))
  try {
    const { model, base_url, key } = disk.read().saved
    const at = base_url === undefined ? '' : ` at ${base_url}`
    const text = `the page's settings name the model ${model}${at}, with ${key ? 'a key' : 'no key'} of their own`
    if (model !== undefined) yield { kind: 'note', text }
  } catch (error) {
    if (!(error instanceof UnusableSettings)) throw error
    yield {
      kind: 'wrong',
      text: `${disk.path} cannot be used: ${error.message}`,
      todo: 'Delete it, and set the settings again on the page',
    }
  }
}

async function* checkPage({ data, invocation }: Patient): AsyncGenerator<Finding> {
  const serving = existsSync(data) ? ServerLock.serving(data) : undefined
  if (serving === undefined) {
    return yield { kind: 'note', text: 'the page does not run; it starts with the host' }
  }
  if (serving === 'starting') return yield { kind: 'note', text: 'the page is starting' }
  const { url, local, pid } = serving
  const isUp = await answers(local)
  if (!isUp) {
    const todo = `End process ${pid}, then: ${serveCommand(invocation, data)}`
    return yield { kind: 'wrong', text: `the page does not answer at ${local}`, todo }
  }
  yield { kind: 'well', text: `page ${url} (for a sign-in link: ${urlCommand(invocation, data)})` }
  const fixed = fixedPort(data)
  if (fixed === undefined || Number(new URL(local).port) === fixed) return
  const todo = `End what uses port ${fixed}, and process ${pid}; the next start takes that port`
  yield { kind: 'wrong', text: `the page is not on its port ${fixed}, where your browser is signed in`, todo }
}

async function answers(local: string): Promise<boolean> {
  try {
    return (await fetch(new URL('/readyz', local), { signal: AbortSignal.timeout(PAGE_ANSWER_MS) })).ok
  } catch {
    return false
  }
}

/** Must match `engines` in package.json. */
const NODE = [22, 16] as const
const ANSWER_MS = 20_000

const run = promisify(execFile)

async function* checkHost({ host, environment }: Patient): AsyncGenerator<Finding> {
  const tried = host.tried === undefined ? 'not tried; written as its documentation says' : `tried with ${host.tried}`
  const file = onPath(host.command, environment['PATH'])
  const found = file && (await versionOf([file], environment))
  const what = file
    ? `${HOSTS[host.name].label} ${found ?? 'does not say its version'}`
    : `${host.command} is not on the PATH`
  yield { kind: 'note', text: `${what} (${tried})` }
}

async function checkProgram(patient: Patient): Promise<Finding> {
  const { host, installation, setup, environment, place } = patient
  const [command, script] = installation.program
  const stops = place.scope === 'user' && host.withoutProgram ? `. ${host.withoutProgram}` : ''
  const todo = place.scope === 'user' ? `Write the settings anew: ${setup}${stops}` : `Install it: ${installCommand()}`
  const file = isAbsolute(command) ? command : onPath(command, environment['PATH'])
  if (file === undefined || !existsSync(file)) return { kind: 'wrong', text: `${command} is not there`, todo }
  if (script === undefined) {
    const found = await versionOf([file], environment)
    if (found === undefined) return { kind: 'wrong', text: `${file} does not run`, todo }
    return { kind: 'well', text: `${file} ${found}${sameVersion(found)}` }
  }
  const node = await versionOf([file], environment)
  if (!isNewEnough(node)) {
    return {
      kind: 'wrong',
      text: `${file} is Node ${node ?? 'of no known version'}, and ${NODE.join('.')} is required`,
      todo,
    }
  }
  if (!existsSync(script)) return { kind: 'wrong', text: `${script} is not there`, todo }
  const found = await versionOf([file, script], environment)
  if (found === undefined) return { kind: 'wrong', text: `${script} does not run`, todo }
  return { kind: 'well', text: `${script} ${found}${sameVersion(found)}, with Node ${node}` }
}

async function* checkServer({ host, server, environment, setup }: Patient): AsyncGenerator<Finding> {
  const { Client } = await import('@modelcontextprotocol/client')
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const [command, ...args] = server.words
  const env = { ...pageEnvironment(environment), ...server.env }
  const transport = new StdioClientTransport({ command, args, env, stderr: 'pipe' })
  let stderr = ''
  transport.stderr?.on('data', chunk => (stderr = `${stderr}${String(chunk)}`.slice(-2_000)))
  const client = new Client({ name: toolClient(host) ?? 'runsheet-doctor', version })
  const started = performance.now()
  try {
    await client.connect(transport, { timeout: ANSWER_MS })
    const { tools } = await client.listTools(undefined, { timeout: ANSWER_MS })
    const names = tools.map(({ name }) => name)
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    const shown = names.filter(name => name !== 'hook')
    // The server also answers while it cannot open its storage.
    const [, problem] = /^runsheet: (.+)$/m.exec(stderr) ?? []
    if (problem !== undefined) {
      return yield {
        kind: 'wrong',
        text: problem.replace(/\.$/, ''),
        todo: `Mend that, then try: ${server.words.join(' ')}`,
      }
    }
    yield { kind: 'well', text: `the server answers in ${seconds} s, with ${shown.length} tools: ${shown.join(', ')}` }
    if (toolClient(host) && !names.includes('hook')) {
      yield { kind: 'wrong', text: 'the server has no tool for hooks', todo: `Write the settings anew: ${setup}` }
    }
  } catch (error) {
    const why = stderr.trim().split('\n').at(-1) || (error as Error).message
    yield { kind: 'wrong', text: `the server does not start: ${why}`, todo: `Try it: ${server.words.join(' ')}` }
  } finally {
    await client.close().catch(() => {})
  }
}

/** The output of --version; undefined if the program does not run. */
async function versionOf(
  [file = '', ...args]: readonly string[],
  environment: Patient['environment'],
): Promise<string | undefined> {
  try {
    const { stdout } = await run(file, [...args, '--version'], {
      timeout: ANSWER_MS,
      env: pageEnvironment(environment),
    })
    return /\d+\.\d+[\w.-]*/.exec(stdout)?.[0]
  } catch {
    return undefined
  }
}

function isNewEnough(found = '0.0'): boolean {
  const [major = 0, minor = 0] = found.split('.').map(Number)
  return major > NODE[0] || (major === NODE[0] && minor >= NODE[1])
}

const sameVersion = (found: string): string => (found === version ? '' : ` (this is ${version})`)

function onPath(command: string, path = ''): string | undefined {
  const names = process.platform === 'win32' ? [`${command}.cmd`, `${command}.exe`] : [command]
  return path
    .split(delimiter)
    .flatMap(folder => names.map(name => join(folder, name)))
    .find(file => isAbsolute(file) && existsSync(file))
}

const RUN_MS = 10_000

async function* checkHooks(patient: Patient, canRun: boolean): AsyncGenerator<Finding> {
  const { host, place, installation } = patient
  const files = host.settings(place, installation)
  for (const file of files) {
    if (file.format === 'own') yield* [...checkPlugin(file, patient), ...checkSecret(patient)]
    else if (file.hooks) yield* checkGroups(file, file.hooks, patient, canRun)
    if (file.format === 'json' && file.item) yield* checkItem(file, patient)
  }
  yield* checkSwitches(patient)
}

function* checkPlugin({ path, text }: OwnFile, { setup }: Patient): Generator<Finding> {
  const present = readSettingsText(path)
  const todo = `Write it anew: ${setup}`
  if (present === text) yield { kind: 'well', text: `plugin ${path}` }
  else if (present === undefined) yield { kind: 'wrong', text: `there is no ${path}`, todo }
  else yield { kind: 'wrong', text: `${path} is not the plugin of this version`, todo }
}

/** A missing secret is fine: the plugin creates one. */
function* checkSecret({ data }: Patient): Generator<Finding> {
  const file = secretFile(data)
  if (!existsSync(file) || readSecret(data) !== undefined) return
  const todo = 'Delete it: OpenCode makes another'
  yield { kind: 'wrong', text: `${file} cannot be read or is empty: no chat has a plan of its own`, todo }
}

async function* checkGroups(
  file: SettingsFile,
  wanted: Readonly<Record<string, HookGroup>>,
  patient: Patient,
  canRun: boolean,
): AsyncGenerator<Finding> {
  const text = readSettingsText(file.path)
  const present = text === undefined ? {} : inFile(file.path, () => ownHooks(dataOf(file, text)))
  const events = [...new Set([...Object.keys(wanted), ...Object.keys(present)])]
  const wrong = events.filter(event => {
    const groups = present[event] ?? []
    const group = wanted[event]
    return !isDeepStrictEqual(groups, group ? [group] : [])
  })
  if (wrong.length > 0) {
    const what = `hooks in ${file.path} are missing or differ: ${wrong.join(', ')}`
    yield { kind: 'wrong', text: what, todo: `Write them anew: ${patient.setup}` }
    return
  }
  if (events.length === 0) return yield { kind: 'note', text: 'no hooks' }
  yield { kind: 'well', text: `hooks: ${events.join(', ')}` }
  yield* checkAcceptance(placesOfHooks(dataOf(file, text ?? ''), file.path), patient)
  if (canRun) yield* checkCommand(wanted, patient)
}

function* checkSwitches({ host, place, installation }: Patient): Generator<Finding> {
  const { files, switches } = host.off ?? { files: () => [], switches: [] }
  const isCalled = callHooks(host.settings(place, installation))
  const counting = switches.filter(({ stops }) => stops === 'tools' || isCalled)
  for (const file of files(place)) {
    const data = dataIn(file)
    if (data instanceof CliError) yield { kind: 'wrong', text: data.message, todo: 'Mend the file' }
    else
      for (const { path, stops } of counting.filter(({ path, isOff }) => isOff(valueAt(data, path)))) {
        const what = stops === 'hooks' ? 'the hooks do not run' : 'the agent cannot use the tools'
        yield { kind: 'wrong', text: `${what}: see ${path.join('.')} in ${file.path}`, todo: 'Change it there' }
      }
  }
}

function dataIn(file: SettingsFile): unknown {
  try {
    return inFile(file.path, () => dataOf(file, readSettingsText(file.path) ?? ''))
  } catch (error) {
    if (error instanceof CliError) return error
    throw error
  }
}

function* checkAcceptance(hooks: readonly PlacedHook[], { host, place }: Patient): Generator<Finding> {
  const { acceptance } = host
  if (!acceptance) return
  const settings = acceptance.settings(place)
  const data = inFile(settings.path, () => dataOf(settings, readSettingsText(settings.path) ?? ''))
  const missing = hooks.filter(hook => !acceptance.has(data, hook)).map(({ event }) => event)
  if (missing.length === 0) yield { kind: 'well', text: 'a person has accepted the hooks' }
  else
    yield {
      kind: 'wrong',
      text: `you have not accepted the hooks ${missing.join(', ')} as they are, or switched them off: they do not run`,
      todo: acceptance.todo,
    }
}

/**
 * Runs the hook's program with empty input. The command line as configured hides failures, so it cannot be run as is.
 */
async function* checkCommand(
  wanted: Readonly<Record<string, HookGroup>>,
  { environment, host, installation }: Patient,
): AsyncGenerator<Finding> {
  const event = Object.keys(wanted).find(each => wanted[each]?.hooks.some(({ command }) => command !== undefined))
  if (event === undefined) return
  const words = hookWords(host.name, event, installation)
  const code = await exitOf(words, pageEnvironment(environment))
  if (code === 0) return yield { kind: 'well', text: 'hook commands run' }
  const todo = `Try it: echo '{}' | ${words.map(shellWord).join(' ')}`
  yield { kind: 'wrong', text: `a hook command failed (${code ?? 'no end'})`, todo }
}

function exitOf(
  [command, ...args]: readonly [string, ...string[]],
  env: Record<string, string>,
): Promise<number | null> {
  // On Windows npm installs `runsheet` as a cmd script.
  const shell = process.platform === 'win32'
  const child = spawn(command, args, { shell, stdio: ['pipe', 'ignore', 'ignore'], env, timeout: RUN_MS })
  child.stdin?.on('error', () => {}).end('{}')
  return new Promise(resolve => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
}

function* checkItem({ path, item }: SettingsFile, { setup }: Patient): Generator<Finding> {
  if (!item) return
  const text = readSettingsText(path) ?? ''
  const list = valueAt(
    inFile(path, () => dataOf({ path, format: 'json' }, text)),
    item.path,
  )
  if (Array.isArray(list) && list.includes(item.value)) yield { kind: 'well', text: `${item.value} is allowed` }
  else
    yield { kind: 'wrong', text: `${item.value} is not in ${item.path.join('.')} of ${path}`, todo: `Add it: ${setup}` }
}

/** The host's client name, if its hooks call our tool. */
function toolClient({ name }: Host): string | undefined {
  const { hooks, client } = HOSTS[name]
  return hooks === 'tool' ? client : undefined
}
