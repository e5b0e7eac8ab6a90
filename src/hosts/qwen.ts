import { join } from 'node:path'
import { folderIn, type Host, mcpArguments, type Place } from './host.ts'
import { commandHooks } from './hooks.ts'

const HOOKS = {
  host: 'qwen',
  uses: {
    SessionStart: ['digest'],
    // Also carries the turn.
    UserPromptSubmit: 'session',
    PostToolUse: ['evidence'],
    PostToolUseFailure: ['evidence'],
    Stop: ['gate'],
  },
  // Our own limit is 2 s; the rest lets Node start on a busy machine.
  timeout: 5,
  onWindows: { shell: 'powershell' },
} as const

export const qwen: Host = {
  name: 'qwen',
  tried: '0.24.4',
  serverPath: ['mcpServers', 'runsheet'],
  settings: (place, installation) => {
    const [command, ...args] = [...installation.program, ...mcpArguments(installation, true)]
    return [
      {
        path: join(folderOf(place), 'settings.json'),
        format: 'json',
        server: { path: qwen.serverPath, value: { command, args, trust: true } },
        hooks: commandHooks(HOOKS, place, installation),
      },
    ]
  },
  notes: ({ scope }) => (scope === 'project' ? ['Qwen Code uses .qwen only in folders that you trust.'] : []),
}

const folderOf = (place: Place): string =>
  place.scope === 'project' ? join(place.project, '.qwen') : (folderIn(place, 'QWEN_HOME') ?? join(place.home, '.qwen'))
