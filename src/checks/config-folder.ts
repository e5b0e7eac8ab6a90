import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Environment } from './environment.ts'
import { Obstacle } from './obstacle.ts'

/** The user's own configuration folder, independent of the working folder. */
export function findConfigFolder(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): string | Obstacle {
  const [variable, fallback] =
    platform === 'win32' ? ['APPDATA', join('AppData', 'Roaming')] : ['XDG_CONFIG_HOME', '.config']
  const set = environment[variable]
  // A relative path would lead into the working folder, which may be untrusted; the XDG specification ignores it, too.
  if (set && isAbsolute(set)) return join(set, 'runsheet')
  const home = homeFolder()
  // HOME may be empty or relative, which would also lead into the working folder.
  if (home === undefined || !isAbsolute(home)) {
    return new Obstacle('cannot find your home folder. Set HOME to its absolute path.')
  }
  return join(home, fallback, 'runsheet')
}

/** Undefined for a user without a system account entry, as in some containers. */
function homeFolder(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
