import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { type HookGroup, hookWords } from '../setup/hooks.ts'
import type { PlacedHook } from '../setup/host.ts'
import {
  callHooks,
  dataOf,
  ownHooks,
  type OwnFile,
  placesOfHooks,
  type SettingsFile,
  valueAt,
} from '../setup/settings.ts'
import { CliError } from './cli-error.ts'
import type { Finding, Patient } from './doctor.ts'
import { shellWord } from './invocation.ts'
import { readSecret, secretFile } from './opencode-secret.ts'
import { pageEnvironment } from './page-environment.ts'
import { readSettingsText } from './setup-files.ts'
import { inFile } from './setup-hosts.ts'

const RUN_MS = 10_000

export async function* checkHooks(patient: Patient, canRun: boolean): AsyncGenerator<Finding> {
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
