import { join } from 'node:path'
import { bothScopes, FEATURES, folderIn, type Host, mcpArguments, type Place } from '../host.ts'
import { commandHooks } from './command-hooks.ts'
import { listed, SERVER_LISTS } from './off-switches.ts'

const HOOKS = {
  host: 'gemini',
  uses: {
    SessionStart: ['digest'],
    // Also tells the session, and where a turn begins.
    BeforeAgent: FEATURES,
    AfterTool: ['evidence'],
    AfterAgent: ['gate'],
  },
  // Our own limit is 2 s; the rest is for Node to start on a busy machine.
  timeout: 5_000,
} as const

export const gemini: Host = {
  name: 'gemini',
  label: 'Gemini CLI',
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
  notes: ({ scope }) => (scope === 'project' ? ['Gemini CLI uses .gemini only in folders that you trust.'] : []),
}

function fileOf(place: Place): string {
  const root = place.scope === 'project' ? place.project : (folderIn(place, 'GEMINI_CLI_HOME') ?? place.home)
  return join(root, '.gemini', 'settings.json')
}
