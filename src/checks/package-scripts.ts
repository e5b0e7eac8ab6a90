import { basename, join } from 'node:path'
import picomatch from 'picomatch'
import type { TextReader } from './text-reader.ts'

/** Packages of one repository that are read. */
const MAX_MEMBERS = 500
/** Folders that are looked at for one glob. */
const MAX_LOOKS = 5_000

/** The scripts of a package that go by these names, with those before and after each. */
export function packageScripts(
  folder: string,
  isNamed: (name: string) => boolean,
  reader: TextReader,
): readonly string[] {
  const { scripts, wireit } = reader.object(join(folder, 'package.json'))
  const isMeant = (name: string): boolean => isNamed(name) || isNamed(name.replace(/^(?:pre|post)/, ''))
  return [scripts, wireit].flatMap(entriesOf).flatMap(([name, script]) => (isMeant(name) ? commandsIn(script) : []))
}

/** The folders of the packages that a folder says it holds. */
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

/** A script, or the command of one that has more to it. */
function commandsIn(script: unknown): readonly string[] {
  if (typeof script === 'string') return [script]
  return typeof script === 'object' && script !== null && 'command' in script ? commandsIn(script.command) : []
}

/** A list, or an object with one. */
function globsIn(workspaces: unknown): readonly string[] {
  if (Array.isArray(workspaces)) return workspaces.filter(glob => typeof glob === 'string')
  const isObject = typeof workspaces === 'object' && workspaces !== null
  return isObject && 'packages' in workspaces && Array.isArray(workspaces.packages) ? globsIn(workspaces.packages) : []
}

/** The folders that a glob matches, name by name. Links may lead in circles. */
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
