import { join } from 'node:path'
import { eventsFor, type EventUses, type HookGroup, toolHook } from './hooks.ts'
import { folderIn, type Host, type Installation, mcpArguments, type Place } from './host.ts'

const USES: EventUses = {
  SessionStart: ['digest'],
  UserPromptSubmit: ['digest'],
  PostToolUse: ['evidence'],
  Stop: ['gate'],
}

const SESSION = { event: '${hook_event_name}', session: '${session_id}' }
const TURN = { ...SESSION, turn: '${turn_id}' }

/** Exactly the variables that an event has: Codex fails a hook that uses any other. */
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

/** Just above our own limit: only a hung server makes the host wait this long. */
const SECONDS = 3

/** Codex passes servers few variables. These tell whether and how a plan can be opened in the user's browser. */
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
  tried: '0.166.0',
  serverPath: ['mcp_servers', 'runsheet'],
  settings: (place, installation) => {
    const [command, ...args] = [...installation.program, ...mcpArguments(installation, true)]
    const folder = folderOf(place)
    return [
      {
        path: join(folder, 'config.toml'),
        format: 'toml',
        // With `required` Codex waits for the server before the first turn but refuses to start without it, so project
        // scope omits it for colleagues who lack the program.
        server: {
          path: codex.serverPath,
          value: { command, args, env_vars: DESKTOP, required: place.scope === 'user', startup_timeout_sec: 30 },
        },
      },
      { path: join(folder, 'hooks.json'), format: 'json', hooks: hooksFor(installation) },
    ]
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
