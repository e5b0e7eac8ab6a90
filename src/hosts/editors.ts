import { join } from 'node:path'
import { configHome, folderIn, type Host, type Installation, mcpArguments, type Place } from './host.ts'

// Editors, untested, by their documentation: they get the server and no hooks.

export const cursor: Host = {
  name: 'cursor',
  serverPath: ['mcpServers', 'runsheet'],
  settings: (place, installation) => [
    {
      path: join(place.scope === 'project' ? place.project : place.home, '.cursor', 'mcp.json'),
      format: 'json',
      server: { path: cursor.serverPath, value: server(installation) },
    },
  ],
  notes: () => ['Restart Cursor, and look under Settings, Tools & MCP, whether the server is on.'],
}

export const vscode: Host = {
  name: 'vscode',
  serverPath: ['servers', 'runsheet'],
  settings: (place, installation) => [
    {
      path:
        place.scope === 'project' ? join(place.project, '.vscode', 'mcp.json') : join(codeFolder(place), 'mcp.json'),
      format: 'json',
      server: { path: vscode.serverPath, value: { type: 'stdio', ...server(installation) } },
    },
  ],
  notes: ({ scope }) => [
    'The command "MCP: List Servers" starts the server; VS Code asks once whether to trust it.',
    ...(scope === 'user'
      ? ['This is the file of the default profile: "MCP: Open User Configuration" opens yours.']
      : []),
  ],
}

export const zed: Host = {
  name: 'zed',
  serverPath: ['context_servers', 'runsheet'],
  settings: (place, installation) => [
    {
      path: join(place.scope === 'project' ? join(place.project, '.zed') : zedFolder(place), 'settings.json'),
      format: 'json',
      server: { path: zed.serverPath, value: { ...server(installation), env: {} } },
    },
  ],
  notes: () => ['Settings, AI, MCP Servers shows whether the server runs.'],
}

function server(installation: Installation): { readonly command: string; readonly args: readonly string[] } {
  const [command, ...script] = installation.program
  return { command, args: [...script, ...mcpArguments(installation, false)] }
}

function codeFolder(place: Place): string {
  const { home, platform } = place
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Code', 'User')
  return join(platform === 'win32' ? roaming(place) : configHome(place), 'Code', 'User')
}

function zedFolder(place: Place): string {
  if (place.platform === 'win32') return join(roaming(place), 'Zed')
  return join(place.platform === 'darwin' ? join(place.home, '.config') : configHome(place), 'zed')
}

const roaming = (place: Place): string => folderIn(place, 'APPDATA') ?? join(place.home, 'AppData', 'Roaming')
