import type { CheckSettings } from '../checks/settings.ts'
import { visible } from '../core/text/plain-text.ts'
import type { McpServer } from '../engine/turn/mcp-tools.ts'
import { CliError } from './cli-error.ts'
import type { Environment } from './environment.ts'
import { shellWord, trustCommand } from './invocation.ts'
import {
  NONE,
  TrustList,
  configFolder,
  ownSettings,
  placeOf,
  readSettingsFile,
  withoutTrust,
  type SettingsFile,
  type TrustedFile,
} from './server/settings.ts'
import { ask, dropTyped, isInteractive, type Terminal } from './terminal/terminal.ts'

interface TrustOptions {
  readonly file: string
  readonly environment: Environment
  readonly invocation: string
}

/** A full word, because Enter or "y" could be a reflex. */
const WORD = 'trust'

/** Shows what a project's settings file would do, and trusts exactly this content if a person at a terminal agrees. */
export async function trustFile(options: TrustOptions, terminal: Terminal): Promise<void> {
  const folder = configFolder(options.environment)
  const file = readSettingsFile(options.file)
  if (!file) throw new CliError(`there is no ${options.file}. Name the file: ${options.invocation} trust FILE`)
  const needed = whatNeedsTrust(file, folder)
  if (needed.length === 0) return console.log(visible(`Nothing in ${file.path} needs to be trusted.`))
  if (!isInteractive(terminal)) throw noTerminal(options, file)
  await dropTyped(terminal)
  console.log([visible(file.path), 'Once it is trusted, it will:', ...needed.map(line => `  - ${line}`)].join('\n'))
  console.log(
    'Programs run as you, in the folder where Runsheet is started; only this file is checked, not what it starts. Once the file changes, it has to be trusted again.',
  )
  if ((await ask(`Type "${WORD}" to trust it: `, terminal)) !== WORD) throw new CliError('nothing was trusted.')
  new TrustList(folder).add(file, new Date())
  console.log('Trusted. It counts from the next start.')
}

export function listTrusted({ environment }: Pick<TrustOptions, 'environment'>): void {
  const all = new TrustList(configFolder(environment)).all()
  if (all.length === 0) console.log('No settings file is trusted.')
  for (const each of all) console.log(visible(`${stateOf(each).padEnd(7)}  ${each.at.slice(0, 10)}  ${each.path}`))
}

export function distrustFile({ file, environment }: TrustOptions): void {
  const list = new TrustList(configFolder(environment))
  if (!list.remove(knownPlace(file))) throw new CliError(`${file} was not trusted.`)
  console.log(visible(`${file} is not trusted any more. A running server keeps its settings until it is restarted.`))
}

function whatNeedsTrust(file: SettingsFile, folder: string): readonly string[] {
  const { ignored } = withoutTrust(file, ownSettings(folder) ?? NONE)
  const policy = Object.entries(file.policy).filter(([field]) => ignored.includes(`policy.${field}`))
  return [
    ...policy.map(([field, value]) => `set ${field} to ${visible(JSON.stringify(value))} in new conversations`),
    ...Object.entries(file.mcpServers).map(([name, server]) => visible(serverLine(name, server))),
    ...checkLines(file.checks).map(visible),
    ...(file.webhook ? [visible(`tell ${file.webhook.url} of plans that wait and turns that end`)] : []),
  ]
}

function checkLines({ allow, wrap, env, done, held_out }: CheckSettings): readonly string[] {
  const line = (words: readonly string[]): string => words.map(shellWord).join(' ')
  const variables = Object.entries(env).map(([name, value]) => `${name}=${shellWord(value)}`)
  return [
    ...allow.map(words => `run ${line(words)} whenever a model names it as the check of a task, without asking you`),
    ...done.map(words => `run ${line(words)} before a plan ends, without asking you`),
    ...(wrap.length > 0 ? [`put ${line(wrap)} in front of every check`] : []),
    ...(held_out === undefined ? [] : [`take the files of held-out checks from ${shellWord(held_out)}`]),
    ...(variables.length > 0 ? [`give checks ${variables.join(' ')}`] : []),
  ]
}

function serverLine(name: string, server: McpServer): string {
  if ('url' in server) {
    const headers = Object.keys(server.headers ?? {})
    const sent = headers.length > 0 ? ` (with the headers ${headers.join(', ')})` : ''
    return `give models the tools of ${name}, and send what they pass to them to ${server.url}${sent}`
  }
  const env = Object.entries(server.env ?? {}).map(([key, value]) => `${key}=${shellWord(value)}`)
  return `start ${name}: ${[...env, ...[server.command, ...(server.args ?? [])].map(shellWord)].join(' ')}`
}

const noTerminal = ({ invocation }: TrustOptions, { path }: SettingsFile): CliError =>
  new CliError(
    `only a person can trust a file, in a terminal. Read it, then type there: ${trustCommand(invocation, path)}`,
  )

function stateOf({ path, sha256 }: TrustedFile): 'trusted' | 'changed' | 'missing' {
  try {
    const file = readSettingsFile(path)
    if (!file) return 'missing'
    return file.sha256 === sha256 ? 'trusted' : 'changed'
  } catch {
    // The file is no longer valid.
    return 'changed'
  }
}

/** If the folder is gone, the path is used as it was printed. */
function knownPlace(file: string): string {
  try {
    return placeOf(file)
  } catch {
    return file
  }
}
