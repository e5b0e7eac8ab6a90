import { isAbsolute, resolve } from 'node:path'
import { redactor } from '../core/text/redact.ts'
import { visible } from '../core/text/visible.ts'
import { type HostName, HOSTS } from '../hosts/hosts.ts'
import { addition, type Change, removal } from '../hosts/change.ts'
import { type Feature, FEATURES, type Host, type Installation, type Place, type Scope } from '../hosts/host.ts'
import { startedBy } from '../hosts/server-entry.ts'
import { UnsafeForm } from '../hosts/settings-error.ts'
import { byHand, callHooks, type Settings } from '../hosts/settings.ts'
import { showDiff } from '../hosts/show-diff.ts'
import { causeOf, CliError } from './cli-error.ts'
import { DataFolder, fixedPort, fixPort, hasGitRules } from './server/data-folder.ts'
import { DEFAULT_CONFIG, DEFAULT_DATA, expandHome } from './default-paths.ts'
import type { Environment } from './environment.ts'
import { installCommand, setupCommand, urlCommand } from './invocation.ts'
import { openWritableStore, storeLocation } from './server/open-store.ts'
import { browserFor, PageServer } from './server/page-server.ts'
import { configFolder } from './server/settings.ts'
import {
  checkWritable,
  foldersBetween,
  readSettingsText,
  removeSettingsFile,
  SetupRecords,
  writeSettingsText,
} from './setup-files.ts'
import {
  allHosts,
  createSecret,
  dataFolderOf,
  inFile,
  placeOf,
  removeUnusedSecret,
  serverEntry,
  userData,
} from './setup-hosts.ts'
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

const UNCHANGED = 'Nothing was changed.'

export async function setUp(options: SetupOptions, terminal: Terminal): Promise<void> {
  const { scope, cwd, environment } = options
  const host = allHosts()[options.host]
  const place = placeOf(scope, cwd, environment)
  const records = new SetupRecords(configFolder(environment), scope === 'project' ? cwd : undefined)
  const asked = installationOf(options, place)
  const present = orNothing(() => presentIn(host, place, asked, records))
  const installation = options.remove ? { ...asked, data: present?.data ?? asked.data } : kept(asked, present, options)
  const data = dataFolderOf(installation.data, cwd)
  const unsafe: Settings[] = []
  const plan = (): readonly Change[] =>
    orNothing(() => changesOf(host.settings(place, installation), records, options, settings => unsafe.push(settings)))
  const changes = plan()
  const changed = changes.filter(isChange)
  unsafe.forEach(showByHand)
  if (changed.length > 0) show(host, changed, options)
  else if (unsafe.length === 0) console.log(nothingToDo(host, options))
  if (options.print) return
  if (changed.length > 0) {
    for (const path of [records.file, ...changed.map(({ path }) => path)]) orNothing(() => checkWritable(path))
    await confirmed(options, terminal)
  }
  const folder = options.remove ? undefined : orNothing(() => new DataFolder(data, environment))
  if (folder) await checkDatabase(data, environment)
  if (changes.some(each => isChange(each) || isStale(each, records)))
    orNothing(() =>
      records.exclusively(() => {
        const now = plan()
        // Another setup of this host may have run meanwhile.
        if (!now.some(isChange) || wordsOf(now) === wordsOf(changes)) return write(now, records, options)
        throw new CliError('the settings changed meanwhile')
      }),
    )
  if (changed.length > 0) console.log(options.remove ? 'Removed.' : 'Written.')
  if (!folder) return removed(host, place, data)
  const notes = [...keptNotes(installation, options), ...notesOf(host, place, installation, options)]
  for (const note of notes) console.log(visible(note))
  await ready(host, folder, options)
}

/** Absolute paths for user scope; nothing specific to this machine for project scope. */
function installationOf(options: SetupOptions, { home }: Place): Installation {
  const { scope, cwd, environment, remove } = options
  const features = remove ? FEATURES : FEATURES.filter(each => options[each] ?? true)
  if (scope === 'project') {
    const { data } = options
    if (data !== undefined && isAbsolute(data)) {
      throw new CliError('in project scope --data must be a relative path or begin with ~/: others have other folders.')
    }
    return { program: ['runsheet'], data, features }
  }
  const { file: script } = options
  if (!remove && /[/\\]_npx[/\\]/.test(script)) {
    throw new CliError(
      `npx runs a copy that may go away. Install Runsheet first: ${installCommand()}. Then: ${setupCommand('runsheet', options.host, scope)}`,
    )
  }
  const data = options.data ?? environment['RUNSHEET_DATA'] ?? userData(home)
  return { program: [process.execPath, script], data: resolve(cwd, expandHome(data)), features }
}

/** Finds an earlier setup by its record or, in a clone, by its hooks. */
function presentIn(host: Host, place: Place, asked: Installation, records: SetupRecords): Present | undefined {
  const [settings] = host.settings(place, asked)
  const entry = serverEntry(host, settings)
  const { installation, words } = (entry && startedBy(entry)) ?? {}
  if (!settings || !installation) return undefined
  const isOurs = words?.includes('--hooks') || records.get(settings.path) !== undefined
  const isChosen = isOurs && hasHookSettings(host, place, asked)
  return { isOurs, data: installation.data, features: isChosen ? installation.features : undefined }
}

interface Present {
  readonly isOurs: boolean
  readonly data: string | undefined
  /** Undefined if the earlier choice is unknown. */
  readonly features: readonly Feature[] | undefined
}

const hasHookSettings = (host: Host, place: Place, asked: Installation): boolean =>
  host.settings(place, asked).some(file => file.format === 'own' || file.hooks !== undefined)

/** Earlier choices (disabled hooks, data folder) stay unless an option overrides them. */
function kept(asked: Installation, present: Present | undefined, options: SetupOptions): Installation {
  const isOn = (each: Feature): boolean => options[each] ?? present?.features?.includes(each) ?? true
  const isNamed = options.data !== undefined || options.environment['RUNSHEET_DATA'] !== undefined
  const data = !isNamed && present?.isOurs ? present.data : asked.data
  return { ...asked, data: data ?? asked.data, features: FEATURES.filter(isOn) }
}

const changesOf = (
  all: readonly Settings[],
  records: SetupRecords,
  { remove, print }: SetupOptions,
  onUnsafe: (settings: Settings) => void,
): readonly Change[] =>
  all.map(settings => {
    const { path } = settings
    const before = readSettingsText(path)
    const record = records.get(path)
    return inFile(path, () => {
      try {
        return (remove ? removal : addition)(settings, before, record)
      } catch (error) {
        if (!print || remove || !(error instanceof UnsafeForm)) throw error
        onUnsafe(settings)
        return { path, before, after: before, record }
      }
    })
  })

function showByHand(settings: Settings): void {
  console.log(
    visible(
      `${settings.path}: its form cannot be edited safely. Write this into it by hand, within braces that are there already:`,
    ),
  )
  for (const line of byHand(settings)) console.log(visible(`  ${line}`))
  console.log('')
}

const isChange = ({ before, after }: Change): boolean => before !== after

const isStale = ({ path, record }: Change, records: SetupRecords): boolean =>
  record === undefined && records.get(path) !== undefined

/** Adds to errors that nothing was written. */
function orNothing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof CliError) || error.message.endsWith(UNCHANGED)) throw error
    throw new CliError(`${error.message.replace(/\.$/, '')}. ${UNCHANGED}`)
  }
}

/** Fails if the default database is unusable; another location may only be unreachable right now. */
async function checkDatabase(data: string, environment: Environment): Promise<void> {
  if (storeLocation(environment['RUNSHEET_STORE'] ?? 'sqlite') !== 'folder') return
  try {
    await (await openWritableStore({ store: 'sqlite', data })).close()
  } catch (error) {
    orNothing(() => {
      throw error
    })
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

const wordsOf = (changes: readonly Change[]): string =>
  changes
    .flatMap(({ path, before, after }) => [
      path,
      ...showDiff(before ?? '', after ?? '').filter(line => /^[-+]/.test(line)),
    ])
    .join('\n')

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

/** All or nothing. Files are removed in reverse, so that their folders are empty in turn. */
function write(changes: readonly Change[], records: SetupRecords, { scope, remove, cwd }: SetupOptions): void {
  const mode = scope === 'user' ? 0o600 : 0o666
  const done: (() => void)[] = []
  for (const change of remove ? changes.toReversed() : changes) {
    const { path, before, after, record } = change
    const known = records.get(path)
    try {
      if (!isChange(change)) {
        if (isStale(change, records)) records.set(path, undefined)
        continue
      }
      // Without a record, as in a clone, setup counts as the creator of a project's folders.
      const folders = known?.folders ?? (scope === 'project' ? foldersBetween(cwd, path) : [])
      if (after === undefined) removeSettingsFile(path, folders)
      const made = after === undefined ? [] : writeSettingsText(path, after, mode)
      done.push(() => (before === undefined ? removeSettingsFile(path, made) : writeSettingsText(path, before, mode)))
      records.set(path, record && { ...record, folders: known?.folders ?? made })
      done.push(() => records.set(path, known))
    } catch (error) {
      for (const undo of done.toReversed()) undo()
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

const SESSION_NOTE = 'One hook stays, which only tells Runsheet which session a call belongs to.'

function notesOf(host: Host, place: Place, installation: Installation, options: SetupOptions): readonly string[] {
  const { scope, invocation } = options
  const other = scope === 'user' ? 'project' : 'user'
  const [elsewhere] = host.settings({ ...place, scope: other }, installation)
  const [here] = host.settings(place, installation)
  const isTwice = elsewhere?.path !== here?.path && hasServer(host, elsewhere)
  return [
    ...host.notes(place, installation),
    ...(installation.features.length === 0 && callHooks(host.settings(place, installation)) ? [SESSION_NOTE] : []),
    ...(host.tried === undefined
      ? [`Written as the documentation of ${HOSTS[host.name].label} says; not tried in it.`]
      : []),
    ...(isTwice
      ? [
          `Runsheet is also in ${elsewhere?.path}: hooks run twice. Take it out there: ${setupCommand(invocation, host.name, other)} --remove`,
        ]
      : []),
    ...(scope === 'project' ? projectNotes(installation, options) : []),
  ]
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

/** False for an unreadable file: it is not the one that was asked for. */
function hasServer(host: Host, settings: Settings | undefined): boolean {
  try {
    return serverEntry(host, settings) !== undefined
  } catch {
    return false
  }
}

async function ready(host: Host, folder: DataFolder, options: SetupOptions): Promise<void> {
  const data = folder.path
  for (const line of folder.warnings) console.error(line)
  if (HOSTS[host.name].hooks === 'plugin') createSecret(data)
  await openPageOnce(folder, options)
}

function removed(host: Host, place: Place, data: string): void {
  if (HOSTS[host.name].hooks === 'plugin') removeUnusedSecret(host, place, data)
  console.log(visible(`Plans stay in ${data}.`))
}

interface PageOptions {
  readonly file: string
  readonly environment: Environment
  readonly invocation: string
  readonly token?: string
}

/** Long enough to sign in; the next start of the host serves the page again on the same port. */
const IDLE_EXIT = '30m'

/** Starts the page unless it runs. The first time it also fixes the port and signs a browser in. */
async function openPageOnce(folder: DataFolder, options: PageOptions): Promise<void> {
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
