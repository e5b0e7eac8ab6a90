import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { hasRepository } from '../checks/repository.ts'

/** The data folder, in the working folder. */
export const DEFAULT_DATA = '.runsheet'

/**
 * The data folder of a project for a host that works in this folder: the nearest one up to the root of the repository, so
 * that a host started in a subfolder has no second one. Never the user's own, unless that is where the host works.
 */
export function projectData(folder: string, home = homedir()): string {
  const all = upToRepository(resolve(folder)).filter((each, index) => index === 0 || each !== home)
  return all.map(each => join(each, DEFAULT_DATA)).find(each => existsSync(each)) ?? join(folder, DEFAULT_DATA)
}

/** A folder and those above it within its repository; the folder alone if there is none. */
function upToRepository(folder: string): readonly string[] {
  const all = [folder]
  for (let at = folder; ; at = dirname(at)) {
    if (at !== folder) all.push(at)
    if (hasRepository(at)) return all
    if (dirname(at) === at) return [folder]
  }
}

/** The settings file, in the working folder. */
export const DEFAULT_CONFIG = 'runsheet.json'

/** What the page's settings are kept in, in the data folder, with the key. */
export const SETTINGS_FILE = 'settings.json'

/** MCP hosts start us without a shell that would expand it. */
export const expandHome = (path: string): string => path.replace(/^~(?=\/|$)/, homedir())
