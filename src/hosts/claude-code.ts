import { join } from 'node:path'
import { eventsFor, type EventUses, type HookGroup, statusCommand, toolHook } from './hooks.ts'
import { folderIn, type Host, type Installation, mcpArguments, type Place } from './host.ts'

const USES: EventUses = {
  SessionStart: ['digest'],
  // Also carries the turn. After /clear the server's environment still has the old session.
  UserPromptSubmit: 'session',
  PostToolUse: ['evidence'],
  PostToolUseFailure: ['evidence'],
  Stop: ['gate'],
}

const TURN = { event: '${hook_event_name}', session: '${session_id}', turn: '${prompt_id}' }
const TOOL = { ...TURN, tool: '${tool_name}', call: '${tool_use_id}', input: '${tool_input}' }

/** Only variables that an event has: others would be empty. */
const INPUT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SessionStart: { event: TURN.event, session: TURN.session },
  UserPromptSubmit: TURN,
  PostToolUse: { ...TOOL, response: '${tool_response}' },
  PostToolUseFailure: { ...TOOL, error: '${error}' },
  Stop: TURN,
}

const MATCHER: Readonly<Record<string, string>> = {
  // At start or resume the server is not connected yet, so the first prompt delivers the digest.
  SessionStart: 'compact',
  PostToolUse: '*',
  PostToolUseFailure: '*',
}

/** Just above our own limit: only a hung server makes the host wait this long. */
const SECONDS = 3

export const claudeCode: Host = {
  name: 'claude-code',
  tried: '2.1.325',
  serverPath: ['mcpServers', 'runsheet'],
  settings: (place, installation) => {
    const [command, ...args] = [...installation.program, ...mcpArguments(installation, true)]
    const { server, settings } = filesOf(place)
    return [
      {
        path: server,
        format: 'json',
        // With `alwaysLoad` the host waits for the server before the first turn.
        server: { path: claudeCode.serverPath, value: { type: 'stdio', command, args, alwaysLoad: true } },
      },
      {
        path: settings,
        format: 'json',
        item: { path: ['permissions', 'allow'], value: 'mcp__runsheet' },
        hooks: hooksFor(installation),
      },
    ]
  },
  notes: (place, installation) => [
    'Sessions that are running know nothing of it until they are restarted.',
    statusLineNote(place, installation),
    ...(place.scope === 'project'
      ? ['Claude Code asks each person once, in a terminal, to trust the folder and the servers of .mcp.json.']
      : []),
  ],
}

/** There is only one status line, and it may be the user's own, so setup does not write it. */
function statusLineNote(place: Place, installation: Installation): string {
  const statusLine = { type: 'command', command: statusCommand(installation, place.platform) }
  return `To see the plan in its status line, put this into ${filesOf(place).settings}: "statusLine": ${JSON.stringify(statusLine)}`
}

function filesOf(place: Place): { server: string; settings: string } {
  const { scope, home, project } = place
  if (scope === 'project') {
    return { server: join(project, '.mcp.json'), settings: join(project, '.claude', 'settings.json') }
  }
  const folder = folderIn(place, 'CLAUDE_CONFIG_DIR')
  return {
    server: join(folder ?? home, '.claude.json'),
    settings: join(folder ?? join(home, '.claude'), 'settings.json'),
  }
}

function hooksFor(installation: Installation): Readonly<Record<string, HookGroup>> {
  const group = (event: string): HookGroup => {
    const matcher = MATCHER[event]
    const hooks = [toolHook(INPUT[event] ?? TURN, SECONDS)]
    return { ...(matcher === undefined ? {} : { matcher }), hooks }
  }
  return Object.fromEntries(eventsFor(USES, installation).map(event => [event, group(event)]))
}
