import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { hasRepository } from '../checks/git.ts'

export const DEFAULT_DATA = '.runsheet'

/**
 * The data folder for a host that works in this folder: the nearest one up to the repository root, so that a host
 * started in a subfolder does not create a second one. Never the user's own, unless the host works there.
 */
export function projectData(folder: string, home = homedir()): string {
  const all = upToRepository(resolve(folder)).filter((each, index) => index === 0 || each !== home)
  return all.map(each => join(each, DEFAULT_DATA)).find(each => existsSync(each)) ?? join(folder, DEFAULT_DATA)
}

/** A folder and its parents within the repository; only the folder itself outside one. */
function upToRepository(folder: string): readonly string[] {
  const all = [folder]
  for (let at = folder; ; at = dirname(at)) {
    if (at !== folder) all.push(at)
    if (hasRepository(at)) return all
    if (dirname(at) === at) return [folder]
  }
}

export const DEFAULT_PORT = 4747

/** A shorter token could be guessed. Ours have 43 characters. */
export const MIN_TOKEN_LENGTH = 32

export const DEFAULT_CONFIG = 'runsheet.json'

/** MCP hosts start us without a shell that would expand `~`. */
export const expandHome = (path: string): string => path.replace(/^~(?=\/|$)/, homedir())
