import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'

/** The user's own configuration folder: what is in it counts, whatever folder we are started in. */
export function configFolder(environment: Environment, platform: NodeJS.Platform = process.platform): string {
  const [variable, fallback] =
    platform === 'win32' ? ['APPDATA', join('AppData', 'Roaming')] : ['XDG_CONFIG_HOME', '.config']
  const set = environment[variable]
  // A relative path would lead into the working folder, which may be a stranger's; the XDG specification ignores it, too.
  return join(set && isAbsolute(set) ? set : join(home(), fallback), 'runsheet')
}

/** HOME may be empty or relative: that would lead into the working folder, too. */
function home(): string {
  const folder = homeFolder()
  if (folder === undefined || !isAbsolute(folder)) {
    throw new CliError('cannot find your home folder. Set HOME to its absolute path.')
  }
  return folder
}

/** Undefined for a user without an entry in the system's list, as in some containers. */
function homeFolder(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
