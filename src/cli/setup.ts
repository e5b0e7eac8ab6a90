import { isAbsolute, resolve } from 'node:path'
import { redactor } from '../domain/redact.ts'
import { addition, type Change, removal } from '../setup/change.ts'
import { FEATURES, type Host, type HostName, type Installation, type Place, type Scope } from '../setup/host.ts'
import type { Settings } from '../setup/settings.ts'
import { startedBy } from '../setup/server-entry.ts'
import { showDiff } from '../setup/show-diff.ts'
import { causeOf } from './cause.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { configFolder } from './config-folder.ts'
import { DataFolder } from './data-folder.ts'
import { DEFAULT_DATA, expandHome } from './default-paths.ts'
import { programFile, setupCommand } from './invocation.ts'
import { createSecret, removeUnusedSecret } from './opencode-secret.ts'
import {
  checkWritable,
  foldersBetween,
  readSettingsText,
  removeSettingsFile,
  writeSettingsText,
} from './setup-files.ts'
import { allHosts, dataFolderOf, inFile, placeOf, serverEntry, userData } from './setup-hosts.ts'
import { openPageOnce } from './setup-page.ts'
import { SetupRecords } from './setup-records.ts'
import { ask, dropTyped, isInteractive, type Terminal } from './terminal.ts'
import { visible } from '../domain/visible.ts'

/** What the command line says. */
export interface SetupChoices {
  readonly scope: Scope
  readonly print?: true
  readonly remove?: true
  readonly yes?: true
  readonly data?: string
  readonly gate: boolean
  readonly evidence: boolean
  readonly digest: boolean
}

export interface SetupOptions extends SetupChoices {
  readonly host: HostName
  readonly cwd: string
  readonly environment: Environment
  readonly invocation: string
  readonly token?: string
}

const redact = redactor({ known: [] })

const UNCHANGED = 'Nothing was changed.'

/** Puts Runsheet into a host's settings, or takes it out: shows what changes, asks, and writes. */
export async function setUp(options: SetupOptions, terminal: Terminal): Promise<void> {
  const { scope, cwd, environment } = options
  const host = allHosts()[options.host]
  const place = placeOf(scope, cwd, environment)
  const asked = installationOf(options, place)
  const installation = options.remove ? orNothing(() => presentIn(host, place, asked)) : asked
  const data = dataFolderOf(installation.data, cwd)
  const records = new SetupRecords(configFolder(environment), scope === 'project' ? cwd : undefined)
  const plan = (): readonly Change[] =>
    orNothing(() => changesOf(host.settings(place, installation), records, options.remove))
  const changes = plan()
  const changed = changes.filter(isChange)
  if (changed.length === 0) console.log(nothingToDo(host, options))
  else show(host, changed, options)
  if (options.print) return
  if (changed.length > 0) {
    for (const path of [records.file, ...changed.map(({ path }) => path)]) orNothing(() => checkWritable(path))
    await confirmed(options, terminal)
  }
  const folder = options.remove ? undefined : orNothing(() => new DataFolder(data, environment))
  if (changes.some(each => isChange(each) || isStale(each, records)))
    orNothing(() =>
      records.exclusively(() => {
        const now = plan()
        // Another setup of this host may have done it.
        if (!now.some(isChange) || wordsOf(now) === wordsOf(changes)) return write(now, records, options)
        throw new CliError('the settings changed meanwhile')
      }),
    )
  if (changed.length > 0) console.log(options.remove ? 'Removed.' : 'Written.')
  if (!folder) return removed(host, place, data)
  for (const note of notesOf(host, place, installation, options)) console.log(visible(note))
  await ready(host, folder, options)
}

/** What the host is to start: with absolute paths for this user, or with nothing of this machine for a project. */
function installationOf(options: SetupOptions, { home }: Place): Installation {
  const { scope, cwd, environment, remove } = options
  const features = remove ? FEATURES : FEATURES.filter(each => options[each])
  if (scope === 'project') {
    const { data } = options
    if (data !== undefined && isAbsolute(data)) {
      throw new CliError('in project scope --data must be a relative path or begin with ~/: others have other folders.')
    }
    return { program: ['runsheet'], data, features }
  }
  const script = programFile()
  if (!remove && /[/\\]_npx[/\\]/.test(script)) {
    throw new CliError(
      'npx runs a copy that may go away. Install Runsheet first: npm install -g runsheet, then: ' +
        setupCommand('runsheet', options.host, scope),
    )
  }
  const data = options.data ?? environment['RUNSHEET_DATA'] ?? userData(home)
  return { program: [process.execPath, script], data: resolve(cwd, expandHome(data)), features }
}

/** With the data folder that the settings name. */
function presentIn(host: Host, place: Place, asked: Installation): Installation {
  const entry = serverEntry(host, host.settings(place, asked)[0])
  const data = entry && startedBy(entry)?.installation?.data
  return data === undefined ? asked : { ...asked, data }
}

const changesOf = (all: readonly Settings[], records: SetupRecords, remove: true | undefined): readonly Change[] =>
  all.map(settings => {
    const before = readSettingsText(settings.path)
    return inFile(settings.path, () => (remove ? removal : addition)(settings, before, records.get(settings.path)))
  })

const isChange = ({ before, after }: Change): boolean => before !== after

/** There is a record of what is not there any more. */
const isStale = ({ path, record }: Change, records: SetupRecords): boolean =>
  record === undefined && records.get(path) !== undefined

/** An error here leaves everything as it was. */
function orNothing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof CliError) || error.message.endsWith(UNCHANGED)) throw error
    throw new CliError(`${error.message.replace(/\.$/, '')}. ${UNCHANGED}`)
  }
}

function show(host: Host, changes: readonly Change[], { remove, scope }: SetupOptions): void {
  console.log(`${remove ? 'Taking Runsheet out of' : 'Adding Runsheet to'} ${host.label} (${scope} scope):`)
  for (const { path, before, after } of changes) {
    const what = before === undefined ? ' (new)' : after === undefined ? ' (removed)' : ''
    console.log(`\n${visible(path)}${what}`)
    // The lines around a change may hold other servers' keys.
    for (const line of showDiff(before ?? '', after ?? ''))
      console.log(visible(redact.line(line).replaceAll('\t', '  ')))
  }
  console.log('')
}

/** What is added and removed, without the lines around it. */
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
  await dropTyped(terminal.input)
  if (!/^y(es)?$/i.test(await ask('Write this? [y/N] ', terminal))) throw new CliError('nothing was written.')
}

/** All files, or none. Files are removed in reverse, so that folders are empty when their turn comes. */
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
      // Without a record, as in a clone, the folders in a project count as made by setup.
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

function nothingToDo({ label }: Host, { scope, remove }: SetupOptions): string {
  return remove
    ? `Runsheet is not in the settings of ${label} (${scope} scope).`
    : `The settings of ${label} (${scope} scope) are as they should be.`
}

function notesOf(host: Host, place: Place, installation: Installation, options: SetupOptions): readonly string[] {
  const { scope, invocation } = options
  const other = scope === 'user' ? 'project' : 'user'
  const [elsewhere] = host.settings({ ...place, scope: other }, installation)
  const [here] = host.settings(place, installation)
  const isTwice = elsewhere?.path !== here?.path && hasServer(host, elsewhere)
  return [
    ...host.notes(place, installation),
    ...(host.tried === undefined ? [`Written as the documentation of ${host.label} says; not tried in it.`] : []),
    ...(isTwice
      ? [
          `Runsheet is also in ${elsewhere?.path}: hooks run twice. Take it out there: ${setupCommand(invocation, host.name, other)} --remove`,
        ]
      : []),
    ...(scope === 'project' ? projectNotes(installation) : []),
  ]
}

const projectNotes = ({ data = DEFAULT_DATA }: Installation): readonly string[] => [
  'Each person needs `runsheet` on the PATH: npm install -g runsheet.',
  ...(data.startsWith('~') ? [] : [`Plans are in ${data} in the project: keep that out of git.`]),
]

/** False for a file that cannot be read: it is not the one that was asked for. */
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
  if (host.name === 'opencode') createSecret(data)
  await openPageOnce(folder, options)
}

function removed(host: Host, place: Place, data: string): void {
  if (host.name === 'opencode') removeUnusedSecret(host, place, data)
  console.log(visible(`Plans stay in ${data}.`))
}
