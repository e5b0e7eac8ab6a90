import { isAbsolute, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { redactor } from '../core/text/redact.ts'
import { visible } from '../core/text/plain-text.ts'
import { showDiff } from '../hosts/diff.ts'
import {
  FEATURES,
  type Feature,
  type Host,
  type Installation,
  type Place,
  type Scope,
  type StartedServer,
} from '../hosts/host.ts'
import { HOSTS, type HostName } from '../hosts/hosts.ts'
import type { Change } from '../hosts/settings.ts'
import { CliError, causeOf } from './cli-error.ts'
import { DEFAULT_CONFIG, DEFAULT_DATA, expandHome } from './default-paths.ts'
import type { Environment } from './environment.ts'
import { installCommand, setupCommand, urlCommand } from './invocation.ts'
import { DataFolder, createHookSecret, fixPort, fixedPort, hasGitRules } from './server/data-folder.ts'
import { PageServer, browserFor } from './server/page-server.ts'
import { configFolder } from './server/settings.ts'
import { SetupRecords, readSettingsText, removeSettingsFile, writeSettingsText } from './setup-files.ts'
import { added, allHosts, dataFolderOf, placeOf, removed, serverAt } from './setup-hosts.ts'
import { ask, dropTyped, isInteractive, type Terminal } from './terminal/terminal.ts'
import { signInLink } from './url.ts'

export interface SetupChoices {
  readonly scope: Scope
  readonly print?: true
  readonly remove?: true
  readonly yes?: true
  readonly data?: string
  /** Undefined: keep the earlier choice; on by default. */
  readonly gate?: boolean
  readonly evidence?: boolean
  readonly digest?: boolean
}

interface SetupOptions extends SetupChoices {
  readonly host: HostName
  readonly cwd: string
  readonly environment: Environment
  readonly invocation: string
  readonly token?: string
  /** Our program, for the settings. */
  readonly file: string
}

const redact = redactor({ known: [] })

export async function setUp(options: SetupOptions, terminal: Terminal): Promise<void> {
  const { scope, cwd, environment } = options
  const host = allHosts()[options.host]
  const place = placeOf(scope, cwd, environment)
  const records = new SetupRecords(configFolder(environment))
  const asked = installationOf(options, place)
  const present = orNothing(() => serverAt(host, place))?.server
  const installation = kept(asked, present, options)
  const data = dataFolderOf(installation.data, cwd)
  const change = options.remove ? removed : added
  const changes = orNothing(() =>
    host.settings(place, installation).map(settings => change(settings, records.get(settings.path))),
  )
  const changing = changes.filter(({ before, after }) => before !== after)
  if (changing.length > 0) show(host, changing, options)
  else console.log(nothingToDo(host, options))
  if (options.print) return
  if (changing.length > 0) await confirmed(options, terminal)
  const folder = options.remove ? undefined : orNothing(() => new DataFolder(data, environment))
  orNothing(() => write(changes, records, place))
  if (changing.length > 0) console.log(options.remove ? 'Removed.' : 'Written.')
  if (!folder) return console.log(visible(`Plans stay in ${data}.`))
  for (const note of [...keptNotes(installation, options), ...notesOf(host, place, installation, options)])
    console.log(visible(note))
  for (const line of folder.warnings) console.error(line)
  if (HOSTS[host.name].hooks === 'plugin') createHookSecret(data)
  await openPageOnce(folder, options)
}

/** Absolute paths for user scope; nothing specific to this machine for project scope. */
function installationOf(options: SetupOptions, { home }: Place): Installation {
  const { scope, cwd, environment, remove } = options
  if (scope === 'project') {
    const { data } = options
    if (data !== undefined && isAbsolute(data)) {
      throw new CliError('in project scope --data must be a relative path or begin with ~/: others have other folders.')
    }
    return { program: ['runsheet'], data, features: FEATURES }
  }
  const { file: script } = options
  if (!remove && /[/\\]_npx[/\\]/.test(script)) {
    throw new CliError(
      `npx runs a copy that may go away. Install Runsheet first: ${installCommand()}. Then: ${setupCommand('runsheet', options.host, scope)}`,
    )
  }
  const data = options.data ?? environment['RUNSHEET_DATA'] ?? join(home, DEFAULT_DATA)
  return { program: [process.execPath, script], data: resolve(cwd, expandHome(data)), features: FEATURES }
}

/** Earlier choices (disabled hooks, data folder) stay unless an option overrides them. */
function kept(asked: Installation, present: StartedServer | undefined, options: SetupOptions): Installation {
  const installation = present?.installation
  const before = present?.words.includes('--hooks') ? installation?.features : undefined
  const isOn = (each: Feature): boolean => options[each] ?? before?.includes(each) ?? true
  const isNamed = options.data !== undefined || options.environment['RUNSHEET_DATA'] !== undefined
  const data = isNamed && !options.remove ? asked.data : (installation?.data ?? asked.data)
  return { ...asked, data, features: options.remove ? FEATURES : FEATURES.filter(isOn) }
}

/** Adds to errors that nothing was written. */
function orNothing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    throw new CliError(`${error.message.replace(/\.$/, '')}. Nothing was changed.`)
  }
}

function show(host: Host, changes: readonly Change[], { remove, scope }: SetupOptions): void {
  console.log(`${remove ? 'Taking Runsheet out of' : 'Adding Runsheet to'} ${HOSTS[host.name].label} (${scope} scope):`)
  for (const { path, before, after } of changes) {
    const what = before === undefined ? ' (new)' : after === undefined ? ' (removed)' : ''
    console.log(`\n${visible(path)}${what}`)
    // Lines around a change may hold other servers' keys.
    for (const line of showDiff(before ?? '', after ?? ''))
      console.log(visible(redactedRow(line).replaceAll('\t', '  ')))
  }
  console.log('')
}

/** `redact.line` strips indentation, so restore it. */
const redactedRow = (row: string): string => `${/^\s*/.exec(row)?.[0] ?? ''}${redact.line(row)}`

async function confirmed({ yes, host, scope, remove, invocation }: SetupOptions, terminal: Terminal): Promise<void> {
  if (yes) return
  if (!isInteractive(terminal)) {
    const command = `${setupCommand(invocation, host, scope)}${remove ? ' --remove' : ''}`
    throw new CliError(
      `nothing was written: there is no terminal to ask in. To write without being asked: ${command} --yes`,
    )
  }
  await dropTyped(terminal)
  if (!/^y(es)?$/i.test((await ask('Write this? [y/N] ', terminal)) ?? '')) throw new CliError('nothing was written.')
}

/** All or nothing. */
function write(changes: readonly Change[], records: SetupRecords, { scope, home, project }: Place): void {
  const put = (path: string, text: string | undefined): void => {
    if (text === undefined) removeSettingsFile(path, scope === 'user' ? home : project)
    else writeSettingsText(path, text, scope === 'user' ? 0o600 : 0o666)
  }
  const undo: (() => void)[] = []
  for (const { path, before, after, record } of changes) {
    const known = records.get(path)
    try {
      if (readSettingsText(path) !== before) throw new CliError(`${path} was changed meanwhile`)
      if (before !== after) put(path, after)
      undo.push(() => before !== after && put(path, before))
      if (!isDeepStrictEqual(record, known)) records.set(path, record)
      undo.push(() => records.set(path, known))
    } catch (error) {
      for (const each of undo.toReversed()) each()
      throw error instanceof CliError ? error : new CliError(`cannot write ${path}: ${causeOf(error)}`)
    }
  }
}

function nothingToDo({ name }: Host, { scope, remove }: SetupOptions): string {
  const { label } = HOSTS[name]
  return remove
    ? `Runsheet is not in the settings of ${label} (${scope} scope).`
    : `The settings of ${label} (${scope} scope) are as they should be.`
}

function notesOf(host: Host, place: Place, installation: Installation, options: SetupOptions): readonly string[] {
  const { scope, invocation } = options
  const other = scope === 'user' ? 'project' : 'user'
  return [
    ...host.notes(place, installation),
    ...(host.tried === undefined
      ? [`Written as the documentation of ${HOSTS[host.name].label} says; not tried in it.`]
      : []),
    ...(isAlsoAt(host, { ...place, scope: other }, place)
      ? [
          `Runsheet is set up in both scopes: hooks run twice. Take it out of one: ${setupCommand(invocation, host.name, other)} --remove`,
        ]
      : []),
    ...(scope === 'project' ? projectNotes(installation, options) : []),
  ]
}

/** In a home folder both scopes may name the same file. False for an unreadable one: it is not the one to edit. */
function isAlsoAt(host: Host, other: Place, place: Place): boolean {
  try {
    const path = serverAt(host, other)?.path
    return path !== undefined && path !== serverAt(host, place)?.path
  } catch {
    return false
  }
}

/** Features that stay off although no option says so. */
function keptNotes({ features }: Installation, options: SetupOptions): readonly string[] {
  const off = FEATURES.filter(each => !features.includes(each) && options[each] === undefined)
  if (off.length === 0) return []
  return [`As before, without ${off.join(' and ')}. To switch on: ${off.map(each => `--${each}`).join(' ')}`]
}

const projectNotes = ({ data = DEFAULT_DATA }: Installation, { cwd }: SetupOptions): readonly string[] => [
  `Each person needs \`runsheet\` on the PATH: ${installCommand()}.`,
  ...(data.startsWith('~') ? [] : [`Plans are in ${data} in the project${gitNote(dataFolderOf(data, cwd))}`]),
]

const gitNote = (data: string): string =>
  hasGitRules(data) ? '; its .gitignore keeps them out of git.' : ': keep that out of git.'

/** Long enough to sign in; the next start of the host serves the page again on the same port. */
const IDLE_EXIT = '30m'

/** Starts the page unless it runs. The first time it also fixes the port and signs a browser in. */
async function openPageOnce(folder: DataFolder, options: SetupOptions): Promise<void> {
  const { environment, invocation, token } = options
  const data = folder.path
  const said: string[] = []
  const page = new PageServer(
    folder,
    {
      environment,
      invocation,
      ...(token === undefined ? {} : { token }),
      store: environment['RUNSHEET_STORE'] ?? 'sqlite',
      config: { file: DEFAULT_CONFIG, by: 'default' },
      idleExit: environment['RUNSHEET_IDLE_EXIT'] ?? IDLE_EXIT,
      program: [options.file],
    },
    line => said.push(line),
  )
  // The start waits on unref'd timers, which do not keep the process alive.
  const alive = setInterval(() => {}, 1_000)
  const note = await page.ready().finally(() => clearInterval(alive))
  if (!note) return said.forEach(line => console.error(line))
  if (fixedPort(data) !== undefined) {
    return console.log(`The page: ${note.url} (for a sign-in link: ${urlCommand(invocation, data)})`)
  }
  fixPort(data, Number(new URL(note.local).port))
  const link = await signInLink({ data, environment, invocation, ...(token === undefined ? {} : { token }) })
  const open = environment['RUNSHEET_BROWSER'] === 'off' ? undefined : browserFor(environment)
  open?.(link)
  console.log(
    open
      ? `The page opens in your browser and signs it in: ${note.url}`
      : `Open this once, to sign your browser in: ${link}`,
  )
}
