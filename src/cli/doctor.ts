import { HOST_NAMES, type Host, type HostName, type Installation, type Place, type Scope } from '../setup/host.ts'
import { startedBy, type StartedServer } from '../setup/server-entry.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { checkData, checkPage, checkSettings } from './doctor-data.ts'
import { checkHooks } from './doctor-hooks.ts'
import { checkHost, checkProgram, checkServer } from './doctor-server.ts'
import { setupCommand } from './invocation.ts'
import { allHosts, dataFolderOf, hasHooks, placeOf, serverEntry } from './setup-hosts.ts'
import { visible } from '../domain/visible.ts'

export interface DoctorOptions {
  readonly host?: HostName
  readonly cwd: string
  readonly environment: Environment
  readonly invocation: string
}

export type Finding =
  | { readonly kind: 'well' | 'note'; readonly text: string }
  | { readonly kind: 'wrong'; readonly text: string; readonly todo: string }

export interface Patient {
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
      console.log(visible(`${host.label} (${place.scope} scope): ${path}`))
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
    yield { kind: 'wrong', text: `the server is switched off in ${host.label}`, todo: 'Switch it on there' }
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
