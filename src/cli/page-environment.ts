import { PROVIDER_KEYS } from '../runner/provider-keys.ts'
import { cleanEnvironment, type Environment } from './clean-environment.ts'

/** The host's environment may hold its secrets, so the page's server gets only what it needs. */
export function pageEnvironment(environment: Environment): Record<string, string> {
  const names = new Set(['XDG_CONFIG_HOME', ...keyVariables(environment)])
  const passed = Object.entries(environment).filter(([name]) => name.startsWith('RUNSHEET_') || names.has(name))
  const ours = Object.fromEntries(passed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  return { ...cleanEnvironment(environment), ...ours }
}

function keyVariables(environment: Environment): string[] {
  const models = [environment['RUNSHEET_MODEL'], environment['RUNSHEET_ASSESSOR_MODEL']]
  return models.flatMap(model => PROVIDER_KEYS[model?.split(':')[0] ?? ''] ?? [])
}
