import { rmSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { redactor } from '../domain/redact.ts'
import { newToken } from '../http/credentials.ts'
import { addition, type Change, removal } from '../setup/change.ts'
import { FEATURES, type Host, type HostName, type Installation, type Place, type Scope } from '../setup/host.ts'
import type { Settings } from '../setup/settings.ts'
import { startedBy } from '../setup/server-entry.ts'
import { showDiff } from '../setup/show-diff.ts'
import { createPrivateFile } from '../store/private-file.ts'
import { causeOf } from './cause.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { configFolder } from './config-folder.ts'
import { DataFolder } from './data-folder.ts'
import { DEFAULT_DATA, expandHome } from './default-paths.ts'
import { programFile, setupCommand } from './invocation.ts'
import { checkWritable, readSettingsText, removeSettingsFile, writeSettingsText } from './setup-files.ts'
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

/** Puts Runsheet into a host's settings, or takes it out: shows what changes, asks, and writes. */
export async function setUp(options: SetupOptions, terminal: Terminal): Promise<void> {
  const { scope, cwd, environment } = options
  const host = allHosts()[options.host]
  const place = placeOf(scope, cwd, environment)
  const asked = installationOf(options, place)
  const installation = options.remove ? orNothing(() => presentIn(host, place, asked)) : asked
  const records = new SetupRecords(configFolder(environment))
  const plan = (): readonly Change[] =>
    orNothing(() => changesOf(host.settings(place, installation), records, options.remove))
  const changes = plan()
  const changed = changes.filter(({ before, after }) => before !== after)
  if (changed.length === 0) console.log(nothingToDo(host, options))
  else show(host, changed, options)
  if (options.print) return
  if (changed.length > 0) {
    for (const { path } of changed) orNothing(() => checkWritable(path))
    await confirmed(options, terminal)
  }
  const now = plan()
  if (wordsOf(now) !== wordsOf(changes)) throw new CliError('the settings changed meanwhile. Nothing was changed.')
  orNothing(() => write(now, records, options))
  if (changed.length > 0) console.log(options.remove ? 'Removed.' : 'Written.')
  const data = dataFolderOf(installation.data, cwd)
  if (options.remove) return removed(host, data)
  for (const note of notesOf(host, place, installation, options)) console.log(visible(note))
  await ready(host, data, options)
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

/** An error here leaves everything as it was. */
function orNothing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof CliError ? new CliError(`${error.message}. Nothing was changed.`) : error
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
function write(changes: readonly Change[], records: SetupRecords, { scope, remove }: SetupOptions): void {
  const mode = scope === 'user' ? 0o600 : 0o666
  const done: (() => void)[] = []
  for (const { path, before, after, record } of remove ? changes.toReversed() : changes) {
    const known = records.get(path)
    try {
      if (before === after) {
        if (!record && known) records.set(path, undefined)
        continue
      }
      if (after === undefined) removeSettingsFile(path, known?.folders ?? [])
      const made = after === undefined ? [] : writeSettingsText(path, after, mode)
      done.push(() => (before === undefined ? removeSettingsFile(path, made) : writeSettingsText(path, before, mode)))
      records.set(path, record && { ...record, folders: known?.folders ?? made })
      done.push(() => records.set(path, known))
    } catch (error) {
      for (const undo of done.toReversed()) undo()
      throw new CliError(`cannot write ${path}: ${causeOf(error)}`)
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

/** What OpenCode's plugin signs session ids with. */
const SECRET = 'opencode-secret'

async function ready(host: Host, data: string, options: SetupOptions): Promise<void> {
  const folder = new DataFolder(data, options.environment)
  for (const line of folder.warnings) console.error(line)
  if (host.name === 'opencode') createPrivateFile(join(data, SECRET), `${newToken()}\n`)
  await openPageOnce(folder, options)
}

function removed(host: Host, data: string): void {
  if (host.name === 'opencode') rmSync(join(data, SECRET), { force: true })
  console.log(visible(`Plans stay in ${data}.`))
}
