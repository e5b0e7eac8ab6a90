import { PROVIDER_KEYS } from '../models/provider-keys.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR']
const PASSED_ON_WINDOWS = [
  'PATH',
  'PATHEXT',
  'COMSPEC',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'WINDIR',
  'TEMP',
  'TMP',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'PROCESSOR_ARCHITECTURE',
  'HOMEDRIVE',
  'HOMEPATH',
  'USERPROFILE',
  'USERNAME',
]

/** The environment of a child process, without any tokens or keys. */
export function cleanEnvironment(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const onWindows = platform === 'win32'
  const names = new Set(onWindows ? PASSED_ON_WINDOWS : PASSED)
  const passed = Object.entries(environment).filter(([name]) => names.has(onWindows ? name.toUpperCase() : name))
  return Object.fromEntries(passed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

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
