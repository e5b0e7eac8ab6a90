import { join } from 'node:path'
import { readJson, removeJson, setJson } from '../setup/json-edit.ts'
import { SettingsError } from '../setup/settings-error.ts'
import type { McpServer } from '../runner/mcp-tools.ts'
import { causeOf } from './cause.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { configFolder } from './config-folder.ts'
import { DEFAULT_CONFIG } from './default-paths.ts'
import { readSettingsFile } from './settings-file.ts'
import { readSettingsText, writeSettingsText } from './setup-files.ts'

// Edits the MCP servers in the user's own settings file and keeps every other byte.

const MODE = 0o600

export const ownConfigFile = (environment: Environment): string => join(configFolder(environment), DEFAULT_CONFIG)

export const serversIn = (file: string): Readonly<Record<string, McpServer>> => readSettingsFile(file)?.mcpServers ?? {}

export function addServer(file: string, name: string, server: McpServer): void {
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
