import { statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { AskFor } from '../core/model/tool-approval.ts'
import { visible } from '../core/text/plain-text.ts'
import type { McpServer } from '../engine/turn/mcp-tools.ts'
import { SettingsError, readJson, removeJson, setJson } from '../hosts/json-edit.ts'
import { CliError, causeOf } from './cli-error.ts'
import { DEFAULT_CONFIG, expandHome } from './default-paths.ts'
import type { Environment } from './environment.ts'
import { shellWord } from './invocation.ts'
import { configFolder, readSettingsFile } from './server/settings.ts'
import { readSettingsText, writeSettingsText } from './setup-files.ts'

interface ToolsCommand {
  readonly environment: Environment
  readonly invocation: string
  /** Our program, for the settings. */
  readonly file: string
}

export interface AddedTools {
  readonly folder?: string
  readonly url?: string
  readonly header?: readonly string[]
  readonly env?: readonly string[]
  readonly ask?: AskFor
  readonly replace?: true
}

const NAME = /^[A-Za-z0-9_-]{1,32}$/

/** Adds an MCP server or a folder to the user's own settings file, for the agent of `runsheet serve`. */
export function addTools(
  name: string | undefined,
  words: readonly string[],
  options: AddedTools,
  { environment, invocation, file: program }: ToolsCommand,
): void {
  const server = serverOf(words, options, { invocation, file: program })
  const called = name ?? nameOf(options)
  if (!NAME.test(called)) {
    throw new CliError(`a name has 1 to 32 letters, digits, - and _: ${invocation} tools add NAME …`)
  }
  const file = ownConfigFile(environment)
  if (Object.hasOwn(serversIn(file), called) && !options.replace) {
    throw new CliError(`${called} is in ${file} already. Choose another name, or add --replace.`)
  }
  addServer(file, called, server)
  console.log(visible(`Added ${called} to ${file}.`))
  console.log(`A running server takes it up by itself. ${ASKED[server.ask ?? 'none']}`)
}

export function listTools({ environment, invocation }: ToolsCommand): void {
  const file = ownConfigFile(environment)
  const servers = Object.entries(serversIn(file))
  if (servers.length === 0) {
    return console.log(`No MCP servers in ${visible(file)}. Add a folder: ${invocation} tools add --folder PATH`)
  }
  // Arguments may contain secrets.
  for (const [name, server] of servers) {
    console.log(visible(`${name.padEnd(16)}  ask: ${(server.ask ?? 'none').padEnd(7)}  ${placeOf(server)}`))
  }
}

export function removeTools(name: string, { environment }: ToolsCommand): void {
  const file = ownConfigFile(environment)
  if (!removeServer(file, name)) throw new CliError(`there is no ${name} in ${file}.`)
  console.log(visible(`Removed ${name} from ${file}.`))
}

const ASKED: Record<AskFor, string> = {
  all: 'You are asked before each call, in the conversation.',
  changes: 'You are asked before each call that may change something, in the conversation.',
  none: 'Its tools are called without asking you.',
}

function serverOf(
  words: readonly string[],
  options: AddedTools,
  { invocation, file }: Pick<ToolsCommand, 'invocation' | 'file'>,
): McpServer {
  const given = [words.length > 0, options.url !== undefined, options.folder !== undefined].filter(Boolean)
  if (given.length !== 1) {
    throw new CliError(
      `say what to add: ${invocation} tools add --folder PATH, or ${invocation} tools add NAME -- COMMAND …, or ${invocation} tools add NAME --url URL`,
    )
  }
  if (options.folder !== undefined) return folderServer(options.folder, options, file)
  const { ask = 'all' } = options
  if (options.url !== undefined) {
    if (!URL.canParse(options.url)) throw new CliError(`${options.url} is not a URL.`)
    const headers = pairs(options.header, ':', '--header NAME:VALUE')
    return { url: options.url, ...headers('headers'), ask }
  }
  const [command = '', ...args] = words
  return { command, args, ...pairs(options.env, '=', '--env NAME=VALUE')('env'), ask }
}

/** Our own program, confined to the folder, so its read-only hints can be trusted. */
function folderServer(path: string, { ask = 'changes' }: AddedTools, program: string): McpServer {
  const folder = resolve(expandHome(path))
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new CliError(`${folder} is not a folder.`)
  return { command: process.execPath, args: [program, 'folder', folder], ask }
}

/** The folder's name, reduced to valid characters. */
function nameOf({ folder }: AddedTools): string {
  if (folder === undefined) return ''
  const clean = basename(resolve(expandHome(folder))).replaceAll(/[^A-Za-z0-9_-]+/g, '-')
  return clean.replaceAll(/^-+|-+$/g, '').slice(0, 32) || 'folder'
}

function pairs(given: readonly string[] = [], separator: string, form: string) {
  const entries = given.map(each => {
    const place = each.indexOf(separator)
    if (place < 1) throw new CliError(`expected ${form}, got ${each}.`)
    return [each.slice(0, place).trim(), each.slice(place + 1).trim()] as const
  })
  return <K extends string>(key: K): { [P in K]?: Record<string, string> } =>
    (entries.length === 0 ? {} : { [key]: Object.fromEntries(entries) }) as { [P in K]?: Record<string, string> }
}

const placeOf = (server: McpServer): string =>
  'url' in server ? (URL.parse(server.url)?.origin ?? server.url) : shellWord(server.command)

// Edits the MCP servers in the user's own settings file and keeps every other byte.

const MODE = 0o600

export const ownConfigFile = (environment: Environment): string => join(configFolder(environment), DEFAULT_CONFIG)

export const serversIn = (file: string): Readonly<Record<string, McpServer>> => readSettingsFile(file)?.mcpServers ?? {}

function addServer(file: string, name: string, server: McpServer): void {
  const isFirst = readSettingsFile(file)?.mcpServers === undefined
  edit(file, text => {
    // Into an empty object, so that each server gets its own line.
    const before = isFirst ? setJson(text, ['mcpServers'], {}) : text
    return setJson(before, ['mcpServers', name], server)
  })
}

/** Returns false if the server is not there. */
export function removeServer(file: string, name: string): boolean {
  if (!Object.hasOwn(serversIn(file), name)) return false
  edit(file, text => removeJson(text, ['mcpServers', name]))
  return true
}

function edit(file: string, change: (text: string) => string): void {
  // Do not edit an invalid file.
  readSettingsFile(file)
  const before = readSettingsText(file) ?? ''
  try {
    const after = change(before)
    readJson(after)
    writeSettingsText(file, after, MODE)
  } catch (error) {
    if (error instanceof CliError) throw error
    const why = error instanceof SettingsError ? error.message : causeOf(error)
    throw new CliError(`cannot write ${file}: ${why}.`)
  }
}
