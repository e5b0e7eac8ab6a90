import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { bothScopes, folderIn, type Host, mcpArguments, type Place } from './host.ts'
import { dataOf, valueAt } from './settings.ts'
import { SettingsError } from './settings-error.ts'
import { commandHooks } from './command-hooks.ts'
import { listed, SERVER_LISTS } from './off-switches.ts'

const HOOKS = {
  host: 'gemini',
  uses: {
    SessionStart: ['digest'],
    // Also marks the start of a turn.
    BeforeAgent: 'session',
    AfterTool: ['evidence'],
    AfterAgent: ['gate'],
  },
  // Our own limit is 2 s; the rest lets Node start on a busy machine.
  timeout: 5_000,
} as const

export const gemini: Host = {
  name: 'gemini',
  command: 'gemini',
  tried: '0.61.0',
  serverPath: ['mcpServers', 'runsheet'],
  settings: (place, installation) => {
    const [command, ...args] = [...installation.program, ...mcpArguments(installation, true)]
    return [
      {
        path: fileOf(place),
        format: 'json',
        server: { path: gemini.serverPath, value: { command, args, trust: true } },
        hooks: commandHooks(HOOKS, place, installation),
      },
    ]
  },
  off: {
    files: place => bothScopes(place).map(each => ({ path: fileOf(each), format: 'json' })),
    switches: [
      { path: ['hooksConfig', 'enabled'], stops: 'hooks', isOff: value => value === false },
      { path: ['hooksConfig', 'disabled'], stops: 'hooks', isOff: value => listed(value).includes('runsheet') },
      ...SERVER_LISTS,
    ],
  },
  distrust: place => {
    const isTrusted = trustIn(place)
    if (isTrusted) return undefined
    const what = isTrusted === false ? 'does not trust' : 'has not asked yet whether to trust'
    return {
      isDecided: isTrusted === false,
      text: `Gemini CLI ${what} ${place.project}: without trust it uses neither tools nor hooks there`,
      todo: 'Start gemini there and trust the folder (later: /permissions). Without a terminal: gemini --skip-trust, or GEMINI_CLI_TRUST_WORKSPACE=true',
    }
  },
  notes: () => ['Gemini CLI asks once in each folder whether you trust it; in others it uses neither tools nor hooks.'],
}

const fileOf = (place: Place): string =>
  join(place.scope === 'project' ? place.project : homeOf(place), '.gemini', 'settings.json')

const homeOf = (place: Place): string => folderIn(place, 'GEMINI_CLI_HOME') ?? place.home

/** The host's own trust decision; undefined while it has not asked. */
function trustIn(place: Place): boolean | undefined {
  const { GEMINI_RESTRICTED_MODE: restricted, GEMINI_CLI_TRUST_WORKSPACE: said } = place.environment
  if (restricted === 'true' || said === 'false') return false
  if (said === 'true') return true
  const enabled = valueAt(parsedJson(place, fileOf({ ...place, scope: 'user' })), [
    'security',
    'folderTrust',
    'enabled',
  ])
  if (enabled === false) return true
  const file =
    place.environment['GEMINI_CLI_TRUSTED_FOLDERS_PATH'] || join(homeOf(place), '.gemini', 'trustedFolders.json')
  // The longest rule wins.
  const rule = Object.entries((parsedJson(place, file) ?? {}) as Readonly<Record<string, unknown>>)
    .filter(([path, level]) =>
      isInside(place.real(level === 'TRUST_PARENT' ? dirname(path) : path), place.real(place.project)),
    )
    .toSorted(([a], [b]) => b.length - a.length)[0]
  if (!rule) return undefined
  return rule[1] === 'DO_NOT_TRUST' ? false : rule[1] === 'TRUST_FOLDER' || rule[1] === 'TRUST_PARENT' || undefined
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function parsedJson(place: Place, path: string): unknown {
  try {
    return dataOf({ path, format: 'json' }, place.read(path) ?? '')
  } catch (error) {
    if (error instanceof SettingsError) return undefined
    throw error
  }
}
