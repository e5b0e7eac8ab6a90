import { join } from 'node:path'
import { configHome, type Host, type Installation, mcpArguments, type Place } from '../host.ts'

/** The first line of the plugin. */
const MARK = "// Runsheet's plugin for OpenCode"
/** The line of the plugin that setup writes anew. */
const SETTINGS = /^const SETTINGS = .*$/m

/** OpenCode, with the text of its plugin as it is packed. */
export const opencodeWith = (plugin: string): Host => {
  const opencode: Host = {
    name: 'opencode',
    label: 'OpenCode',
    command: 'opencode',
    tried: '1.18.33',
    serverPath: ['mcp', 'runsheet'],
    settings: (place, installation) => {
      const command = [...installation.program, ...mcpArguments(installation, true)]
      const text = installation.features.length > 0 ? pluginFor(plugin, installation) : undefined
      const { settings, folder } = filesOf(place)
      return [
        {
          path: settings,
          format: 'json',
          server: { path: opencode.serverPath, value: { type: 'local', command, enabled: true } },
        },
        { path: join(folder, 'plugin', 'runsheet.js'), format: 'own', text, mark: MARK },
      ]
    },
    notes: () => ['An OpenCode that is running knows nothing of it until it is restarted.'],
  }
  return opencode
}

function filesOf(place: Place): { settings: string; folder: string } {
  const { scope, project, exists } = place
  const own = join(configHome(place), 'opencode')
  const root = scope === 'project' ? project : own
  const comments = join(root, 'opencode.jsonc')
  return {
    settings: exists(comments) ? comments : join(root, 'opencode.json'),
    folder: scope === 'project' ? join(project, '.opencode') : own,
  }
}

/** A function as replacement: a path may contain `$`. */
const pluginFor = (plugin: string, { program, data, features }: Installation): string =>
  plugin.replace(SETTINGS, () => `const SETTINGS = ${JSON.stringify({ program, data, features })}`)
