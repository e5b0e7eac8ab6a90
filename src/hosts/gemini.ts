import { join } from 'node:path'
import { folderIn, type Host, mcpArguments, type Place } from './host.ts'
import { commandHooks } from './hooks.ts'

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
  notes: () => ['Gemini CLI asks once in each folder whether you trust it; in others it uses neither tools nor hooks.'],
}

const fileOf = (place: Place): string =>
  join(place.scope === 'project' ? place.project : homeOf(place), '.gemini', 'settings.json')

const homeOf = (place: Place): string => folderIn(place, 'GEMINI_CLI_HOME') ?? place.home
