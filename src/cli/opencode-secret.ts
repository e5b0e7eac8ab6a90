import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { newToken } from '../http/access.ts'
import type { Host, Place } from '../setup/host.ts'
import { startedBy } from '../setup/server-entry.ts'
import { createPrivateFile, readRegularFile } from '../store/private-file.ts'
import { CliError } from './cli-error.ts'
import { dataFolderOf, serverEntry } from './setup-hosts.ts'

// The key with which OpenCode's plugin signs chats. `runsheet setup` creates it; without setup, as in a clone, the
// plugin does.

const MAX_BYTES = 1_024

export const secretFile = (data: string): string => join(data, 'opencode-secret')

/** Undefined if there is no usable one. */
export function readSecret(data: string): string | undefined {
  try {
    const secret = readRegularFile(secretFile(data), { maxBytes: MAX_BYTES, follow: false }).toString('utf8').trim()
    return secret === '' ? undefined : secret
  } catch {
    return undefined
  }
}

/** Keeps an existing one. */
export const createSecret = (data: string): void => void createPrivateFile(secretFile(data), `${newToken()}\n`)

/** Removes the secret after setup was removed here, unless the other scope uses the same data folder. */
export function removeUnusedSecret(opencode: Host, place: Place, data: string): void {
  const other: Place = { ...place, scope: place.scope === 'user' ? 'project' : 'user' }
  if (dataFolderIn(opencode, other) !== data) rmSync(secretFile(data), { force: true })
}

function dataFolderIn(host: Host, place: Place): string | undefined {
  const [settings] = host.settings(place, { program: ['runsheet'], data: undefined, features: [] })
  try {
    const entry = serverEntry(host, settings)
    const installation = entry && startedBy(entry)?.installation
    return installation && dataFolderOf(installation.data, place.project)
  } catch (error) {
    // This scope's file is not the one being edited: ignore its errors.
    if (error instanceof CliError) return undefined
    throw error
  }
}
