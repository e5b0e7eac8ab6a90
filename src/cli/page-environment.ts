import { PROVIDER_KEYS } from '../runner/provider-keys.ts'
import type { Environment } from './clean-environment.ts'

const PASSED = ['PATH', 'HOME', 'LANG', 'XDG_CONFIG_HOME']
/** Without these, Node on Windows finds neither its sockets nor the home folder. */
const PASSED_ON_WINDOWS = ['SystemRoot', 'USERPROFILE', 'APPDATA', 'TEMP']

/** What the page's server gets of the host's environment, which holds secrets of the host: what it needs, and no more. */
export function pageEnvironment(environment: Environment): Record<string, string> {
  const onWindows = process.platform === 'win32' ? PASSED_ON_WINDOWS : []
  const names = new Set([...PASSED, ...onWindows, ...keyVariables(environment)])
  const passed = Object.entries(environment).filter(([name]) => name.startsWith('RUNSHEET_') || names.has(name))
  return Object.fromEntries(passed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** The variables with the keys of the configured providers. */
function keyVariables(environment: Environment): string[] {
  const models = [environment['RUNSHEET_MODEL'], environment['RUNSHEET_ASSESSOR_MODEL']]
  return models.flatMap(model => PROVIDER_KEYS[model?.split(':')[0] ?? ''] ?? [])
}
