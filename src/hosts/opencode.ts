import { join } from 'node:path'
import { configHome, mcpArguments, type Host, type Installation, type Place } from './host.ts'
import { dataOf, valueAt, type OwnFile, type SettingsFile } from './settings.ts'
import { SettingsError } from './json-edit.ts'

const MARK = "// Runsheet's plugin for OpenCode"
/** Setup rewrites this line of the plugin. */
const SETTINGS = /^const SETTINGS = .*$/m

export const opencodeWith = (plugin: string): Host => {
  const opencode: Host = {
    name: 'opencode',
    tried: '1.18.33',
    serverPath: ['mcp', 'runsheet'],
    settings: (place, installation) => {
      const command = [...installation.program, ...mcpArguments(installation, true)]
      // Written even with all features off: it signs which chat a call belongs to.
      const text = pluginFor(plugin, installation)
      const [first, ...others] = settingsOf(place, opencode.serverPath).map(
        (path): SettingsFile => ({
          path,
          format: 'json',
          server: { path: opencode.serverPath, value: { type: 'local', command, enabled: true } },
        }),
      )
      const folder = place.scope === 'project' ? join(place.project, '.opencode') : ownFolder(place)
      const file: OwnFile = { path: join(folder, 'plugin', 'runsheet.js'), format: 'own', text, mark: MARK }
      return [...(first ? [first] : []), file, ...others]
    },
    notes: () => ['An OpenCode that is running knows nothing of it until it is restarted.'],
  }
  return opencode
}

const ownFolder = (place: Place): string => join(configHome(place), 'opencode')

/**
 * The files that have our entry, or else the one that gets it. OpenCode reads both, and a person may add the other
 * later.
 */
function settingsOf(place: Place, serverPath: readonly string[]): readonly string[] {
  const root = place.scope === 'project' ? place.project : ownFolder(place)
  const [comments, plain] = [join(root, 'opencode.jsonc'), join(root, 'opencode.json')]
  const having = [comments, plain].filter(path => hasEntry(place.read(path), serverPath))
  return having.length > 0 ? having : [place.read(comments) !== undefined ? comments : plain]
}

function hasEntry(text: string | undefined, serverPath: readonly string[]): boolean {
  if (text === undefined) return false
  try {
    return valueAt(dataOf({ path: '', format: 'json' }, text), serverPath) !== undefined
  } catch (error) {
    if (error instanceof SettingsError) return false
    throw error
  }
}

/** A replacer function, because a path may contain `$`. */
const pluginFor = (plugin: string, { program, data, features }: Installation): string =>
  plugin.replace(SETTINGS, () => `const SETTINGS = ${JSON.stringify({ program, data, features })}`)
