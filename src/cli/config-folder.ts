import { findConfigFolder } from '../checks/config-folder.ts'
import { Obstacle } from '../checks/obstacle.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'

export function configFolder(environment: Environment, platform?: NodeJS.Platform): string {
  const found = findConfigFolder(environment, platform)
  if (found instanceof Obstacle) throw new CliError(found.reason)
  return found
}
