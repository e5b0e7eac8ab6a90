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
