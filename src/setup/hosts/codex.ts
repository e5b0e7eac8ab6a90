import { join } from 'node:path'
import { eventsFor, type EventUses, type HookGroup, toolHook } from '../hooks.ts'
import { folderIn, type Host, type Installation, mcpArguments, type Place } from '../host.ts'
import { valueAt } from '../settings.ts'

const USES: EventUses = {
  SessionStart: ['digest'],
  UserPromptSubmit: ['digest'],
  PostToolUse: ['evidence'],
  Stop: ['gate'],
}

const SESSION = { event: '${hook_event_name}', session: '${session_id}' }
const TURN = { ...SESSION, turn: '${turn_id}' }

/** Exactly the variables that an event has: Codex fails a hook for any other. */
const INPUT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SessionStart: { ...SESSION, source: '${source}' },
  UserPromptSubmit: TURN,
  PostToolUse: {
    ...TURN,
    tool: '${tool_name}',
    call: '${tool_use_id}',
    input: '${tool_input}',
    response: '${tool_response}',
  },
  Stop: TURN,
}

/** Just longer than our own limit: only a server that hangs makes the host wait for so long. */
const SECONDS = 3

/** Codex gives servers few variables. These say whether, and how, a plan can be opened in the person's browser. */
const DESKTOP = [
  'BROWSER',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'SSH_CONNECTION',
  'SSH_CLIENT',
  'SSH_TTY',
  'CI',
  'RUNSHEET_BROWSER',
]

export const codex: Host = {
  name: 'codex',
  label: 'Codex',
  command: 'codex',
  tried: '0.166.0',
  hookClient: 'codex-mcp-client',
  serverPath: ['mcp_servers', 'runsheet'],
  settings: (place, installation) => {
    const [command, ...args] = [...installation.program, ...mcpArguments(installation, true)]
    const folder = folderOf(place)
    return [
      {
        path: join(folder, 'config.toml'),
        format: 'toml',
        // With `required` it waits for the server before the first turn.
        server: {
          path: codex.serverPath,
          value: { command, args, env_vars: DESKTOP, required: true, startup_timeout_sec: 30 },
        },
      },
      { path: join(folder, 'hooks.json'), format: 'json', hooks: hooksFor(installation) },
    ]
  },
  acceptance: {
    // Always the user's: a project cannot accept its own hooks.
    settings: place => ({ path: join(folderOf({ ...place, scope: 'user' }), 'config.toml'), format: 'toml' }),
    has: (data, { path, event, group, handler }) => {
      const name = event.replaceAll(/(?<=[a-z])[A-Z]/g, letter => `_${letter}`).toLowerCase()
      return valueAt(data, ['hooks', 'state', `${path}:${name}:${group}:${handler}`, 'trusted_hash']) !== undefined
    },
    todo: 'Start codex, type /hooks, and trust those of runsheet',
  },
  notes: ({ scope }, { features }) => [
    ...(features.length > 0
      ? ['Codex runs no hook that a person has not accepted: start codex, type /hooks, and trust those of runsheet.']
      : []),
    ...(scope === 'project' ? ['Codex reads .codex only in projects that you trust.'] : []),
  ],
}

const folderOf = (place: Place): string =>
  place.scope === 'project'
    ? join(place.project, '.codex')
    : (folderIn(place, 'CODEX_HOME') ?? join(place.home, '.codex'))

const hooksFor = (installation: Installation): Readonly<Record<string, HookGroup>> =>
  Object.fromEntries(
    eventsFor(USES, installation).map(event => [event, { hooks: [toolHook(INPUT[event] ?? SESSION, SECONDS)] }]),
  )
