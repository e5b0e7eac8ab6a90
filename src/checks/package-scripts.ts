import { basename, join } from 'node:path'
import picomatch from 'picomatch'
import type { TextReader } from './text-reader.ts'

/** Packages read per repository. */
const MAX_MEMBERS = 500
/** Folders visited per glob. */
const MAX_LOOKS = 5_000

export function packageScripts(
  folder: string,
  isNamed: (name: string) => boolean,
  reader: TextReader,
): readonly string[] {
  const { scripts, wireit } = reader.object(join(folder, 'package.json'))
  const isMeant = (name: string): boolean => isNamed(name) || isNamed(name.replace(/^(?:pre|post)/, ''))
  return [scripts, wireit].flatMap(entriesOf).flatMap(([name, script]) => (isMeant(name) ? commandsIn(script) : []))
}

/** Folders of the packages that a folder declares as its workspaces. */
export function memberFolders(folder: string, reader: TextReader): readonly string[] {
  const { workspaces } = reader.object(join(folder, 'package.json'))
  const listed = reader.text(join(folder, 'pnpm-workspace.yaml')) ?? ''
  const globs = [
    ...globsIn(workspaces),
    ...globsIn(reader.object(join(folder, 'lerna.json'))),
    ...[...listed.matchAll(/^[ \t]*-[ \t]*["']?([^"'#\n]+)/gm)].map(([, glob = '']) => glob.trim()),
  ]
  const members = globs.flatMap(glob => (glob.startsWith('!') ? [] : expanded(folder, glob.split('/'), reader)))
  return [...new Set(members)].slice(0, MAX_MEMBERS)
}

const entriesOf = (object: unknown): readonly [string, unknown][] =>
  typeof object === 'object' && object !== null ? Object.entries(object) : []

/** A script may be an object with a command. */
function commandsIn(script: unknown): readonly string[] {
  if (typeof script === 'string') return [script]
  return typeof script === 'object' && script !== null && 'command' in script ? commandsIn(script.command) : []
}

function globsIn(workspaces: unknown): readonly string[] {
  if (Array.isArray(workspaces)) return workspaces.filter(glob => typeof glob === 'string')
  const isObject = typeof workspaces === 'object' && workspaces !== null
  return isObject && 'packages' in workspaces && Array.isArray(workspaces.packages) ? globsIn(workspaces.packages) : []
}

/** Folders that a glob matches, segment by segment. Links may be circular. */
function expanded(folder: string, glob: readonly string[], reader: TextReader): readonly string[] {
  const found: string[] = []
  const ways = [{ at: folder, names: glob }]
  for (let looks = 0, way = ways.pop(); way && looks < MAX_LOOKS; looks += 1, way = ways.pop()) {
    const { at } = way
    const [name, ...rest] = way.names
    if (name === undefined) found.push(at)
    else if (!/[*?[{(!]/.test(name)) ways.push({ at: join(at, name), names: rest })
    else {
      const isDeep = name === '**'
      const isMatch = picomatch(name)
      const inside = reader.entries(at).filter(path => basename(path) !== 'node_modules' && isMatch(basename(path)))
      ways.push(...inside.map(path => ({ at: path, names: isDeep ? way.names : rest })))
      if (isDeep) ways.push({ at, names: rest })
    }
  }
  return found
}
